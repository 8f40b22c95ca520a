// A fake of GitHub's API for Apps, over real HTTP. It checks the App's signature and claims, issues tokens that are valid
// for an hour and for the requested permissions, and accepts no others. It has its own clock.
import { createPublicKey, generateKeyPairSync, randomBytes, verify, type KeyObject } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export interface AppKey {
  pem: string
  publicKey: KeyObject
}

export function anAppKey(): AppKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  // As GitHub writes it.
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
  return { pem, publicKey: createPublicKey(pem) }
}

interface Minted {
  token: string
  repositories: string[]
  permissions: Record<string, string>
  endsAt: number
}

interface GitHubRequest {
  method: string
  path: string
  status: number
  body: Record<string, unknown>
  token: string | null
}

type Trouble = (response: ServerResponse) => void

export class GitHubHost {
  url = ''
  /** The App's valid keys. */
  keys: KeyObject[] = []
  appId = '123456'
  installation = '7890'
  account = 'acme'
  /** The repositories and permissions of the installation. */
  repositories = ['app', 'other']
  permissions: Record<string, string> = {
    contents: 'write',
    statuses: 'write',
    checks: 'write',
    issues: 'write',
    pull_requests: 'write',
    repository_hooks: 'write',
    // GitHub gives it to every App.
    metadata: 'read',
  }
  isSuspended = false
  now = () => Date.now()
  readonly minted: Minted[] = []
  readonly requests: GitHubRequest[] = []
  /** By name and commit. */
  readonly workflows = new Map<string, string>()
  /** Replaces the response to requests for a token. */
  trouble: Trouble | null = null
  /** Runs before a token is issued. */
  beforeToken: (() => Promise<unknown>) | null = null
  close: () => Promise<void> = async () => {}

  /** With a token that is good for it, so many. */
  done(path: RegExp): GitHubRequest[] {
    return this.requests.filter((request) => path.test(request.path) && request.status < 300)
  }

  /** Revokes all issued tokens. */
  revoke(): void {
    for (const one of this.minted) one.endsAt = 0
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request
    const path = url.replace(/^\/api\/v3/, '')
    const body = method === 'GET' ? {} : ((await json(request)) as Record<string, unknown>)
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? null
    const isForToken = path.startsWith('/app/')
    if (isForToken && this.beforeToken !== null) await this.beforeToken()
    if (isForToken && this.trouble !== null) {
      this.requests.push({ method, path, status: 0, body, token: null })
      return this.trouble(response)
    }
    const [status, answer] = isForToken
      ? this.#mint(path, body, token ?? '')
      : this.#serve(method, path, token, request.headers.accept ?? '')
    // The proof of the App is not kept: a test has no use for it.
    this.requests.push({ method, path, status, body, token: isForToken ? null : token })
    response.writeHead(status, { 'Content-Type': 'application/json' })
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
  }

  #mint(path: string, body: Record<string, unknown>, jwt: string): [number, object] {
    const problem = this.#problemOf(jwt)
    if (problem !== null) return [401, { message: problem }]
    if (path !== `/app/installations/${this.installation}/access_tokens`)
      return [404, { message: 'Not Found' }]
    if (this.isSuspended) return [403, { message: 'This installation has been suspended' }]
    const wanted = (body['repositories'] ?? this.repositories) as string[]
    const permissions = (body['permissions'] ?? this.permissions) as Record<string, string>
    if (wanted.some((name) => !this.repositories.includes(name))) {
      return [422, { message: 'There is at least one repository that does not exist or is not accessible' }]
    }
    const excess = Object.entries(permissions).some(
      ([name, level]) => this.permissions[name] !== 'write' && this.permissions[name] !== level,
    )
    if (excess) return [422, { message: 'The permissions requested are not granted to this installation.' }]
    const endsAt = this.now() + 3_600_000
    const token = `ghs_${randomBytes(18).toString('hex')}`
    this.minted.push({ token, repositories: wanted, permissions, endsAt })
    const repositories = wanted.map((name) => ({ id: 1, name, full_name: `${this.account}/${name}` }))
    const expires_at = new Date(endsAt).toISOString()
    return [201, { token, expires_at, permissions, repository_selection: 'selected', repositories }]
  }

  /** As GitHub documents it: RS256, from the App, no longer than ten minutes, not from the future. */
  #problemOf(jwt: string): string | null {
    const [header = '', payload = '', signature = ''] = jwt.split('.')
    const bad = 'A JSON web token could not be decoded'
    const read = (part: string) =>
      JSON.parse(Buffer.from(part, 'base64url').toString() || '{}') as Record<string, unknown>
    if (read(header)['alg'] !== 'RS256') return bad
    const text = Buffer.from(`${header}.${payload}`)
    if (!this.keys.some((key) => verify('RSA-SHA256', text, key, Buffer.from(signature, 'base64url'))))
      return bad
    const { iss, iat, exp } = read(payload)
    const now = this.now() / 1000
    if (iss !== this.appId) return 'Integration not found'
    if (typeof iat !== 'number' || !Number.isInteger(iat) || iat > now)
      return "'Issued at' claim ('iat') is bad"
    if (typeof exp !== 'number' || !Number.isInteger(exp) || exp <= now || exp > now + 600) {
      return "'Expiration time' claim ('exp') is too far in the future"
    }
    return null
  }

  #list(names: readonly string[], perPage: number, page: number): [number, object] {
    const repositories = names.slice((page - 1) * perPage, page * perPage).map((name) => this.#show(name))
    return [200, { total_count: names.length, repositories }]
  }

  #show(name: string): object {
    const html_url = `https://github.com/${this.account}/${name}`
    const full_name = `${this.account}/${name}`
    return { id: 1, name, full_name, html_url, clone_url: `${html_url}.git`, default_branch: 'main' }
  }

  #serve(method: string, path: string, token: string | null, accept: string): [number, object | string] {
    const known = this.minted.find((one) => one.token === token && one.endsAt > this.now())
    if (known === undefined) return [401, { message: 'Bad credentials' }]
    const listed = /^\/installation\/repositories\?per_page=(\d+)&page=(\d+)$/.exec(path)
    if (listed !== null) return this.#list(known.repositories, Number(listed[1]), Number(listed[2]))
    const [, one] = /^\/repos\/acme\/([^/]+)$/.exec(path) ?? []
    if (one !== undefined) {
      return known.repositories.includes(one) ? [200, this.#show(one)] : [404, { message: 'Not Found' }]
    }
    const [, owner = '', name = '', rest = ''] = /^\/repos\/([^/]+)\/([^/]+)\/(.*)$/.exec(path) ?? []
    if (owner !== this.account || !known.repositories.includes(name)) return [404, { message: 'Not Found' }]
    const [permission, level] = needed(method, rest)
    if (known.permissions[permission] !== level && known.permissions[permission] !== 'write') {
      return [403, { message: 'Resource not accessible by integration' }]
    }
    if (method === 'GET' && rest.startsWith('hooks?')) return [200, []]
    const file = /^contents\/\.github\/workflows\/(.+)\?ref=(.+)$/.exec(rest)
    if (file === null) return [201, {}]
    const text = this.workflows.get(`${file[1]}@${file[2]}`)
    return text === undefined || accept !== 'application/vnd.github.raw+json'
      ? [404, { message: 'Not Found' }]
      : [200, text]
  }
}

function needed(method: string, rest: string): [string, string] {
  if (method === 'GET') return rest.startsWith('hooks?') ? ['repository_hooks', 'read'] : ['contents', 'read']
  if (rest.startsWith('statuses/')) return ['statuses', 'write']
  return rest === 'check-runs' ? ['checks', 'write'] : ['repository_hooks', 'write']
}

export async function aGitHub(): Promise<GitHubHost> {
  const host = new GitHubHost()
  const server = createServer((request, response) => {
    host.answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  host.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  host.close = () =>
    new Promise((closed) => {
      server.closeAllConnections()
      server.close(() => closed())
    })
  return host
}
