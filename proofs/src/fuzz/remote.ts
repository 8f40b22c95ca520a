// Another server, to which webhooks, source hosts, and providers of single sign-on lead. It does what they do; below `/odd` it
// answers anything else.
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { throwDice } from '../dice.ts'
import { oddTexts, oddValue, pick } from './requests/values.ts'

interface Remote {
  address: string
  /** A key of its App, as the App's owner has it. */
  privateKey: string
  close(): Promise<void>
}

export async function startRemote(seed: number): Promise<Remote> {
  const dice = throwDice(seed)
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 })
  let address = ''
  const server = createServer((request, response) => {
    void text(request).then(
      (body) => (request.url?.startsWith('/odd') ? answerOddly(response) : answer(request, body, response)),
      () => response.destroy(),
    )
  })

  function answer(request: IncomingMessage, body: string, response: ServerResponse): void {
    const json = (status: number, value: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    const { pathname } = new URL(request.url ?? '/', address)
    if (pathname === '/.well-known/openid-configuration') return void json(200, discovery())
    if (pathname === '/jwks')
      return void json(200, {
        keys: [{ ...key.publicKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: 'one' }],
      })
    if (pathname === '/token') return void json(200, tokens(new URLSearchParams(body)))
    if (pathname.startsWith('/app/installations/'))
      return void json(201, {
        token: `ghs_${randomUUID()}`,
        expires_at: new Date(Date.now() + 3_600_000).toISOString(),
        repositories: [{ full_name: 'acme/app' }],
      })
    if (pathname === '/repos/search') return void json(200, { ok: true, data: [repository()] })
    if (pathname.includes('/contents/.github/workflows/'))
      return void response.writeHead(200).end('on: push\npermissions: { contents: read }\njobs: {}\n')
    if (pathname.includes('/hooks')) return answerHooks(request.method, pathname, body, json)
    json(200, {
      ok: true,
      id: 1,
      team_id: 'T1',
      team: 'acme',
      channel: { id: 'C1', name: 'builds' },
    })
  }

  /** The newest webhooks, of all pipelines. */
  const hooks: Array<{ id: number; active: boolean; events: string[]; config: { url: string } }> = []
  let lastHook = 0

  function answerHooks(
    method: string | undefined,
    pathname: string,
    body: string,
    json: (status: number, value: unknown) => unknown,
  ): void {
    if (method === 'GET') return void json(200, hooks.slice(-40))
    const [, named] = /\/hooks\/(\d+)$/.exec(pathname) ?? []
    const at = hooks.findIndex(({ id }) => String(id) === named)
    if (method === 'DELETE') return void json(200, hooks.splice(at, at < 0 ? 0 : 1))
    if (!pathname.endsWith('/hooks')) return void json(200, hooks[at] ?? {})
    const { config } = JSON.parse(body) as { config: { url: string } }
    const hook = { id: (lastHook += 1), active: true, events: ['*'], config: { url: config.url } }
    hooks.push(hook)
    json(201, hook)
  }

  const repository = () => ({
    full_name: 'acme/app',
    html_url: `${address}/acme/app`,
    clone_url: `${address}/acme/app.git`,
    default_branch: 'main',
  })

  const discovery = () => ({
    issuer: address,
    authorization_endpoint: `${address}/authorize`,
    token_endpoint: `${address}/token`,
    jwks_uri: `${address}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  })

  /** The code says who signs in: JSON in Base64. */
  function tokens(form: URLSearchParams): object {
    const said = readCode(form.get('code') ?? '')
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      iss: address,
      aud: 'fuzz',
      sub: createHash('sha256')
        .update(form.get('code') ?? '')
        .digest('hex'),
      iat: now,
      exp: now + 600,
      email_verified: true,
      groups: ['all'],
      ...said,
    }
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const signed = `${encode({ alg: 'RS256', typ: 'JWT', kid: 'one' })}.${encode(claims)}`
    const signature = sign('sha256', Buffer.from(signed), key.privateKey).toString('base64url')
    return {
      access_token: randomUUID(),
      token_type: 'bearer',
      id_token: `${signed}.${signature}`,
      ok: true,
      team: { id: 'T1', name: 'acme' },
    }
  }

  function answerOddly(response: ServerResponse): void {
    switch (dice.between(0, 7)) {
      case 0:
        return void response.destroy()
      case 1:
        return void response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
      case 2:
        return void response
          .writeHead(dice.between(400, 599), { 'retry-after': pick(dice, ['-1', '1e9', 'soon', '5']) })
          .end()
      case 3:
        return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"unfinished": ')
      case 4:
        return void response
          .writeHead(200, { 'content-length': '1000' })
          .end('short', () => response.destroy())
      case 5:
        return void response.writeHead(200).end(Buffer.alloc(300_000, pick(dice, oddTexts) || 'x'))
      default:
        return void response
          .writeHead(pick(dice, [200, 201, 204]), { 'content-type': 'application/json' })
          .end(JSON.stringify(oddValue(dice)))
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    address,
    privateKey: key.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

function readCode(code: string): object {
  try {
    return Object(JSON.parse(Buffer.from(code, 'base64url').toString())) as object
  } catch {
    return {}
  }
}
