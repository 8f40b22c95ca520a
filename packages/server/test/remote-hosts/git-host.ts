// A small source host: real repositories, served by git over http. It sends no deliveries; tests do.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { promisify } from 'node:util'

const execute = promisify(execFile)

export interface TestGitHost {
  address: string
  /** The number of times that a client asked for refs. */
  asked(): number
  aRepository(name: string): Promise<HostedRepository>
  /** Answers requests below /api/; null: this one is never answered. */
  api: ((path: string, headers: IncomingHttpHeaders) => ApiAnswer | null) | null
  close(): Promise<void>
}

interface ApiAnswer {
  status?: number
  headers?: Record<string, string>
  body?: unknown
  /** Instead of `body`, as it is. */
  text?: string
  /** Sent as it comes, instead of a body. */
  stream?: Readable
}

interface HostedRepository {
  path: string
  /** As deliveries show it. */
  json: { id: number; full_name: string; private: boolean; clone_url: string; ssh_url: string }
  git(...args: string[]): Promise<string>
  /** A new commit at the end of the branch, which is made if it is not there. */
  commit(branch: string): Promise<string>
  move(branch: string, commit: string): Promise<void>
  /** The object of a new annotated tag. */
  tag(name: string, commit: string): Promise<string>
  remove(branch: string): Promise<void>
}

const env = {
  PATH: process.env['PATH'] ?? '',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ada Example',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada Example',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
}

export async function aGitHost(): Promise<TestGitHost> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'millrace-git-host-')))
  let asked = 0
  const server = createServer((request, response) => {
    if (request.url?.includes('/info/refs')) asked += 1
    const path = request.url ?? ''
    if (host.api === null || !path.startsWith('/api/')) return serve(directory, request, response)
    const answer = host.api(path, request.headers)
    if (answer === null) return
    const { status = 200, headers = {}, body, text, stream } = answer
    if (stream !== undefined) {
      // The client may not read to the end.
      pipeline(stream, response.writeHead(status, headers), () => {})
      return
    }
    response.writeHead(status, headers).end(text ?? (body === undefined ? '' : JSON.stringify(body)))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const host: TestGitHost = {
    address,
    api: null,
    asked: () => asked,
    aRepository: (name) => aRepository(directory, address, name),
    async close() {
      server.closeAllConnections()
      server.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
  return host
}

async function aRepository(directory: string, address: string, name: string): Promise<HostedRepository> {
  const path = join(directory, `${name}.git`)
  const git = async (...args: string[]) =>
    (await execute('git', args, { cwd: path, env, maxBuffer: 64 * 1024 * 1024 })).stdout.trim()
  await execute('git', ['init', '--quiet', '--bare', '--initial-branch=main', path], { env })
  const tree = await git('hash-object', '-t', 'tree', '-w', '/dev/null')
  let made = 0
  return {
    path,
    json: {
      id: 1,
      full_name: name,
      private: false,
      clone_url: `${address}/${name}.git`,
      ssh_url: `ssh://git@127.0.0.1/${name}.git`,
    },
    git,
    async commit(branch) {
      const ref = `refs/heads/${branch}`
      const parent = await git('for-each-ref', '--format=%(objectname)', ref)
      const message = `Change ${(made += 1)} of ${branch}`
      const commit = await git('commit-tree', tree, '-m', message, ...(parent ? ['-p', parent] : []))
      await git('update-ref', ref, commit)
      return commit
    },
    async move(branch, commit) {
      await git('update-ref', `refs/heads/${branch}`, commit)
    },
    async tag(tag, commit) {
      await git('tag', '-a', tag, '-m', tag, commit)
      return git('rev-parse', `refs/tags/${tag}`)
    },
    async remove(branch) {
      await git('update-ref', '-d', `refs/heads/${branch}`)
    },
  }
}

/** The program of git that answers over http, by CGI. */
function serve(directory: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://host')
  const child = spawn('git', ['http-backend'], {
    env: {
      ...env,
      GIT_PROJECT_ROOT: directory,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: pathname,
      QUERY_STRING: searchParams.toString(),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  request.pipe(child.stdin)
  child.stdin.on('error', () => {})
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.on('close', () => {
    const answer = Buffer.concat(chunks)
    const end = answer.indexOf('\r\n\r\n')
    const fields = answer.subarray(0, end).toString().split('\r\n')
    const headers = fields.map((line) => [line.split(': ')[0] ?? '', line.split(': ').slice(1).join(': ')])
    const status = Number.parseInt(headers.find(([name]) => name === 'Status')?.[1] ?? '200', 10)
    response.writeHead(status, Object.fromEntries(headers)).end(answer.subarray(end + 4))
  })
}
