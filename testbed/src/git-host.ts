// A source host: git's own HTTP backend for the repositories below a folder, for whoever may read.
import { execFile, spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'

const execute = promisify(execFile)

export interface GitHost {
  port: number
  /** What was asked for, with which password; null: without one. */
  seen: Array<{ path: string; password: string | null }>
  close(): void
}

interface GitHostGiven {
  /** The folder of its repositories. */
  root: string
  mayRead(password: string, path: string): boolean
  tls?: { key: string; cert: string }
}

export async function startGitHost({ root, mayRead, tls }: GitHostGiven): Promise<GitHost> {
  const seen: GitHost['seen'] = []
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, search } = new URL(request.url ?? '/', 'https://git.test')
    const password = passwordIn(request)
    seen.push({ path: pathname, password })
    if (password === null || !mayRead(password, pathname)) {
      response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end()
      return
    }
    const backend = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env['PATH'],
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'safe.directory',
        GIT_CONFIG_VALUE_0: '*',
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: pathname,
        QUERY_STRING: search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      },
    })
    request.pipe(backend.stdin)
    const said = await buffer(backend.stdout)
    const end = said.indexOf('\r\n\r\n')
    for (const line of said.subarray(0, end).toString().split('\r\n')) {
      const [name = '', value = ''] = line.split(': ')
      if (name === 'Status') response.statusCode = Number.parseInt(value)
      else response.setHeader(name, value)
    }
    response.end(said.subarray(end + 4))
  }
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response).catch(() => response.destroy())
  }
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function passwordIn({ headers }: IncomingMessage): string | null {
  const [, basic] = /^Basic (.+)$/.exec(headers.authorization ?? '') ?? []
  return basic === undefined ? null : (Buffer.from(basic, 'base64').toString().split(':')[1] ?? '')
}

export interface HostedRepository {
  root: string
  bare: string
  /** In a clone that pushes. */
  git(...args: string[]): Promise<string>
  /** Commits the files, pushes them to the ref, and returns the commit. */
  push(ref: string, files: Record<string, string>): Promise<string>
  remove(): Promise<void>
}

/** `acme/app.git`, empty. */
export async function aHostedRepository(parent = tmpdir()): Promise<HostedRepository> {
  const root = await realpath(await mkdtemp(join(parent, 'git-host-')))
  const [bare, work] = [join(root, 'acme/app.git'), join(root, 'work')]
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
  const env = { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  const run = async (...args: string[]) =>
    (await execute('git', [...identity, ...args], { env })).stdout.trim()
  await run('init', '--quiet', '--bare', '--initial-branch=main', bare)
  await run('init', '--quiet', '--initial-branch=main', work)
  const git = (...args: string[]) => run('-C', work, ...args)
  return {
    root,
    bare,
    git,
    async push(ref, files) {
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(join(work, name)), { recursive: true })
        await writeFile(join(work, name), text)
      }
      await git('add', '.')
      await git('commit', '--quiet', '--allow-empty', '-m', `For ${ref}`)
      await git('push', '--quiet', '--force', bare, `HEAD:${ref}`)
      return git('rev-parse', 'HEAD')
    },
    remove: () => rm(root, { recursive: true, force: true }),
  }
}
