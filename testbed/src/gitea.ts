// A real Gitea, with SQLite and without its pages' files: see tools/gitea.mjs.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'

/** The folder of the program, with its `templates` and `options`. */
const folder =
  process.env['MILLRACE_TEST_GITEA'] ??
  fileURLToPath(new URL('../../node_modules/.cache/gitea', import.meta.url))
const program = join(folder, 'gitea')

/** Why it cannot run here; null: it can. */
export const giteaLacks = existsSync(program)
  ? process.getuid?.() === 0 && !existsSync('/usr/bin/setpriv')
    ? 'Gitea refuses to run as root, and there is no setpriv'
    : null
  : 'Gitea is not built: npm run gitea'

export interface Gitea {
  url: string
  /** Its repositories are below this address too. */
  sshUrl: string
  version: string
  /** Of the administrator `root`. */
  token: string
  /** The answer to a request with this person's token; without one, the administrator's. */
  api(method: string, path: string, body?: object, token?: string): Promise<GiteaAnswer>
  /** Also returns a token that may do everything that the person may. */
  addUser(name: string): Promise<string>
  stop(): Promise<void>
}

interface GiteaAnswer {
  status: number
  body: unknown
}

const startMs = 120_000

/** `home` is an empty folder. */
export async function startGitea(home: string): Promise<Gitea> {
  const [port, sshPort] = [await freePort(), await freePort()]
  const url = `http://localhost:${port}`
  const config = join(home, 'app.ini')
  mkdirSync(join(home, 'home'))
  writeFileSync(config, configuration(home, url, port, sshPort))
  const env = { ...process.env, HOME: join(home, 'home'), USER: 'git', GITEA_WORK_DIR: home }
  const command = [program, '--config', config, '--work-path', home]
  const prefix = process.getuid?.() === 0 ? asGit(home) : []
  const run = (...args: string[]): string => {
    const [file = '', ...rest] = [...prefix, ...command, ...args]
    return execFileSync(file, rest, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  }
  run('migrate')
  const scopes = ['--access-token', '--access-token-scopes', 'all']
  const addUser = (name: string, ...more: string[]): string => {
    const made = run(
      'admin',
      'user',
      'create',
      '--username',
      name,
      '--email',
      `${name}@example.com`,
      '--random-password',
      '--must-change-password=false',
      ...scopes,
      '--access-token-name',
      'tests',
      ...more,
    )
    const [, token] = /token[^\n]*?([0-9a-f]{40})/i.exec(made) ?? []
    if (token === undefined) throw new Error(`Gitea printed no token: ${made}`)
    return token
  }
  const token = addUser('root', '--admin')
  const log = openSync(join(home, 'output'), 'a')
  const [file, ...args] = [...prefix, ...command, 'web']
  const child = spawn(file, args, { env, stdio: ['ignore', log, log] })
  const api: Gitea['api'] = async (method, path, body, by = token) => {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { Authorization: `token ${by}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return {
      status: answer.status,
      body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text,
    }
  }
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  const deadline = Date.now() + startMs
  for (;;) {
    const answer = await api('GET', '/version').catch(() => null)
    if (answer?.status === 200) {
      const { version } = answer.body as { version: string }
      const sshUrl = `ssh://git@localhost:${sshPort}`
      return { url, sshUrl, version, token, api, addUser: (name) => Promise.resolve(addUser(name)), stop }
    }
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop()
      throw new Error(`Gitea did not start; see ${join(home, 'output')}.`)
    }
    await delay(50)
  }
}

/** It refuses to run as root. The account needs no password and exists on every system. */
function asGit(home: string): string[] {
  execFileSync('chown', ['-R', 'daemon:daemon', home])
  return ['setpriv', '--reuid', 'daemon', '--regid', 'daemon', '--clear-groups']
}

const configuration = (home: string, url: string, port: number, sshPort: number): string => `
APP_NAME = Tests
RUN_MODE = prod
WORK_PATH = ${home}
[server]
PROTOCOL = http
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = ${url}/
START_SSH_SERVER = true
BUILTIN_SSH_SERVER_USER = git
SSH_LISTEN_HOST = 127.0.0.1
SSH_LISTEN_PORT = ${sshPort}
SSH_ROOT_PATH = ${home}/ssh
OFFLINE_MODE = true
STATIC_ROOT_PATH = ${folder}
[database]
DB_TYPE = sqlite3
PATH = ${home}/gitea.db
[security]
INSTALL_LOCK = true
[service]
DISABLE_REGISTRATION = true
[webhook]
ALLOWED_HOST_LIST = loopback
[log]
MODE = console
LEVEL = Warn
[cron]
ENABLED = false
[repository]
DEFAULT_BRANCH = main
`
