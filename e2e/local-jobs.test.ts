// Attacks of a hostile job on the installation of a local agent: with users for jobs (root), with namespaces (an ordinary
// user), and without either.
import { execFileSync } from 'node:child_process'
import { accessSync, chmodSync, chownSync, constants, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished } from 'vitest'
import { needing, rootLacks } from '../testbed/src/needing.ts'
import {
  aDirectory,
  copyEmptyInstallation,
  eventually,
  launch,
  program,
  startServer,
  stop,
  type Json,
  type Server,
  type Settings,
} from './millrace.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const isRoot = process.getuid?.() === 0
/** An unused account that every system has. */
const daemon = { uid: 1, gid: 1 }
const adminToken = 'an-administrators-token-of-tests'

const asDaemon = ['--reuid', String(daemon.uid), '--regid', String(daemon.gid), '--clear-groups']

const ordinary = whyNoOrdinaryUser()
const namespaces = ordinary ?? whyNoNamespaces()

describe('abuse case R1: a hostile job of a local agent', () => {
  needing('root', rootLacks).it('reaches nothing of the installation as another user', async () => {
    const dataDir = join(aFolder(), 'data')
    const { reached } = await attack(await start(dataDir, {}), dataDir, aRepository())
    expect(reached).toBeNull()
  })

  needing('namespaces', namespaces).it('reaches nothing of the installation in namespaces', async () => {
    const home = aHome()
    const dataDir = join(home, 'data')
    const repository = aRepository()
    if (isRoot) handOver(repository)
    const server = await start(dataDir, { HOME: home }, asOrdinaryUser)
    const { reached } = await attack(server, dataDir, repository)
    expect(reached).toBeNull()
  })

  needing('not-root', ordinary).it("is refused if it is a fork's and cannot be separated", async () => {
    const home = aHome()
    const settings = { HOME: home, PATH: pathWithout('unshare') }
    const server = await start(join(home, 'data'), settings, asOrdinaryUser)
    expect(server.output().stderr).toMatch(/^Jobs of the local agent run as the user of this server .*\.\n$/)
    const pipeline = await aPipeline(server, 'none', 'echo ran')
    const own = await build(server, pipeline, {})
    expect(own).toMatchObject({ state: 'passed', log: expect.stringContaining('ran\n') })
    const fork = await build(server, pipeline, fromFork)
    expect(fork).toMatchObject({
      state: 'failed',
      log: expect.stringContaining('so it takes no builds of forks'),
    })
    expect(fork.log).not.toContain('ran\n')
  })
})

describe('a job of a local agent', () => {
  needing('root', rootLacks).it('ends if it kills its own process, and the agent continues', async () => {
    const server = await start(join(aFolder(), 'data'), {})
    const killer = await aPipeline(server, 'none', 'kill -9 $BUILDKITE_AGENT_PID; sleep 60')
    expect((await build(server, killer, {})).state).toBe('failed')
    const next = await aPipeline(server, 'none', 'echo alive')
    expect((await build(server, next, {})).state).toBe('passed')
  })

  needing('root', rootLacks).it('runs although only root can read the program and Node', async () => {
    const home = aFolder()
    chmodSync(home, 0o700)
    const node = join(home, 'node')
    execFileSync('cp', [process.execPath, node])
    const checkout = aHiddenCheckout(home)
    const hidden = (args: readonly string[], settings: Settings) =>
      kept(launch(node, [join(checkout, 'packages/cli/bin/millrace.js'), ...args], settings))
    const server = await start(join(home, 'data'), {}, hidden)
    const pipeline = await aPipeline(server, 'none', 'buildkite-agent meta-data set a b && id -u')
    expect(await build(server, pipeline, {})).toMatchObject({
      state: 'passed',
      log: expect.stringMatching(/\n6\d{4}\n/),
    })
  })
})

/** Runs the known attacks of a step on an installation, and a few permitted actions. */
async function attack(
  server: Server,
  dataDir: string,
  repository: string,
): Promise<{ reached: string[] | null }> {
  // A server that cannot separate jobs says so, and this test needs one that can.
  expect(server.output().stderr).toBe('')
  const agent = childrenOf(server.pid).find((pid) => commandOf(pid).includes('local.js'))
  expect(agent).toBeDefined()
  const files = /files in (.*)$/.exec(server.database)?.[1] ?? ''
  const cli = program
  const packages = /^.*?\/node_modules(?=\/)/.exec(program)?.[0] ?? join(root, 'node_modules')
  const script = `
try() { what=$1; shift; if "$@" >/dev/null 2>&1; then echo "REACHED $what"; else echo "kept $what"; fi; }
from_any_environment() { cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -q 'an-admin[i]strators'; }
listing() { ls -A '${dataDir}' | grep -qv '^builds$'; }
database() { node -e "require('net').connect('${files}/run/.s.PGSQL.54329').on('connect', () => process.exit(0)).on('error', () => process.exit(1))"; }
create_user() { MILLRACE_DATA_DIR='${dataDir}' node '${cli}' user create --email e@example.com --name e --org default --role admin; }
linked_artifact() { ln -sf '${dataDir}/secret-key' key.txt && buildkite-agent artifact upload key.txt && [ -s key.txt ]; }
try environments from_any_environment
for pid in ${server.pid} ${agent}; do
  try "environ of $pid" cat /proc/$pid/environ
  try "memory of $pid" dd if=/proc/$pid/mem of=/dev/null bs=1 count=1 skip=4194304
  try "files of $pid" ls /proc/$pid/fd
  try "signal to $pid" kill -0 $pid
done
try key cat '${dataDir}/secret-key'
try password cat '${files}/password'
try cluster ls '${files}/cluster'
try blobs ls '${dataDir}/blobs'
try listing listing
try database database
try user create_user
try program test -w '${cli}'
try packages test -w '${packages}'
try artifact linked_artifact
echo made > made.txt
buildkite-agent artifact upload made.txt
buildkite-agent meta-data set key value
buildkite-agent lock acquire something
echo "file $(cat README)"
echo "builds $BUILDKITE_BUILD_PATH"
`
  const pipeline = await aPipeline(server, repository, script)
  const trusted = await build(server, pipeline, {})
  expect(trusted.log).toContain('file of the repository')
  expect(trusted.log.match(/^(kept|REACHED)/gm)).toHaveLength(19)
  expect(trusted.state).toBe('passed')
  const { body: members } = await server.get('/v2/organizations/default/members')
  expect(JSON.stringify(members)).not.toContain('e@example.com')

  const [, builds = ''] = /^builds (.*)$/m.exec(trusted.log) ?? []
  expect(builds).not.toBe('')
  const curious = await aPipeline(
    server,
    'none',
    `echo ran; echo "builds $$BUILDKITE_BUILD_PATH"; ls -A '${builds}' && echo REACHED || true`,
  )
  const fork = await build(server, curious, fromFork)
  expect(fork.log).toContain('\nran\n')
  expect(fork.log).not.toMatch(/^REACHED/m)
  expect(fork.log).not.toContain(`builds ${builds}\n`)
  expect(fork.state).toBe('passed')
  expect((await stop(server)).code).toBe(0)
  return { reached: trusted.log.match(/^REACHED.*$/gm) }
}

const fromFork = {
  branch: 'somebody:main',
  pull_request_id: 1,
  pull_request_base_branch: 'main',
  pull_request_repository: 'https://git.example.com/somebody/fork.git',
}

async function start(
  dataDir: string,
  settings: Settings,
  how?: (args: readonly string[], settings: Settings) => ReturnType<typeof launch>,
): Promise<Server> {
  copyEmptyInstallation(dataDir)
  if (how === asOrdinaryUser && isRoot) handOver(dataDir)
  const all = { MILLRACE_DATA_DIR: dataDir, MILLRACE_ADMIN_TOKEN: adminToken, ...settings }
  return startServer(all, 'up', how)
}

function asOrdinaryUser(args: readonly string[], settings: Settings): ReturnType<typeof launch> {
  const before = isRoot ? ['setpriv', ...asDaemon] : []
  const [file, ...rest] = [...before, process.execPath, program, ...args]
  return kept(launch(file, rest, settings))
}

function kept(running: ReturnType<typeof launch>): ReturnType<typeof launch> {
  onTestFinished(async () => {
    running.signal('SIGTERM')
    await running.ended
  })
  return running
}

async function aPipeline(server: Server, repository: string, command: string): Promise<string> {
  const name = `Pipeline ${Math.random().toString(36).slice(2)}`
  const skip = repository === 'none' ? { env: { BUILDKITE_SKIP_CHECKOUT: 'true' } } : {}
  // Dollar signs are for the shell.
  const step = { command: command.replaceAll(/\$+/g, '$$$$') }
  const configuration = JSON.stringify({ ...skip, steps: [step] })
  const made = await server.post('/v2/organizations/default/pipelines', { name, repository, configuration })
  expect(made.status).toBe(201)
  return String(made.body['slug'])
}

async function build(
  server: Server,
  pipeline: string,
  more: object,
): Promise<{ state: string; log: string }> {
  const builds = `/v2/organizations/default/pipelines/${pipeline}/builds`
  const made = await server.post(builds, { commit: 'HEAD', branch: 'main', ...more })
  expect(made.status).toBe(201)
  const findEnded = async () => {
    const { body } = await server.get(`${builds}/${String(made.body['number'])}`)
    return (body['finished_at'] as unknown) !== null && body
  }
  const body: Json = await eventually('the build ends', findEnded)
  const url = `${server.url}/v2/organizations/default/jobs/${String(body['jobs']?.['0']?.['id'])}/log.txt`
  const log = await fetch(url, { headers: { Authorization: `Bearer ${server.token}` } })
  return { state: String(body['state']), log: `\n${await log.text()}` }
}

/** Other users may enter it. */
function aFolder(): string {
  const path = aDirectory()
  chmodSync(path, 0o755)
  return path
}

function aHome(): string {
  const home = join(aFolder(), 'home')
  mkdirSync(home, { mode: 0o700 })
  if (isRoot) chownSync(home, daemon.uid, daemon.gid)
  return home
}

function handOver(path: string): void {
  execFileSync('chown', ['-R', `${daemon.uid}:${daemon.gid}`, path])
}

/** Owned by the user of the tests, readable for all. */
function aRepository(): string {
  const folder = aFolder()
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], { cwd: folder })
  git('init', '-q', '-b', 'main', '.')
  writeFileSync(join(folder, 'README'), 'of the repository\n')
  git('add', '.')
  git('commit', '-q', '-m', 'First')
  execFileSync('chmod', ['-R', 'a+rX', folder])
  return folder
}

/** A copy of this checkout's packages that only root can enter. */
function aHiddenCheckout(home: string): string {
  const checkout = join(home, 'checkout')
  mkdirSync(checkout)
  execFileSync('cp', ['-a', join(root, 'packages'), join(root, 'package.json'), checkout])
  mkdirSync(join(checkout, 'node_modules', '@millrace'), { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== '@millrace')
      symlinkSync(join(root, 'node_modules', name), join(checkout, 'node_modules', name))
  }
  for (const name of readdirSync(join(checkout, 'packages'))) {
    symlinkSync(join('../../packages', name), join(checkout, 'node_modules', '@millrace', name))
  }
  return checkout
}

function pathWithout(name: string): string {
  const folder = join(aFolder(), 'bin')
  mkdirSync(folder)
  chmodSync(folder, 0o755)
  for (const from of ['/usr/local/bin', '/usr/bin', '/bin']) {
    for (const program of readdirSync(from)) {
      if (program === name) continue
      try {
        symlinkSync(join(from, program), join(folder, program))
      } catch {
        // The first program of a name counts.
      }
    }
  }
  return folder
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)

const commandOf = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'utf8')

function whyNoOrdinaryUser(): string | null {
  if (!isRoot) return null
  try {
    accessSync('/usr/bin/setpriv', constants.X_OK)
  } catch {
    return 'root needs setpriv to start something as another user'
  }
  try {
    execFileSync('setpriv', [...asDaemon, process.execPath, program, '--version'], { stdio: 'pipe' })
    return null
  } catch {
    return 'another user cannot read this checkout'
  }
}

function whyNoNamespaces(): string | null {
  const before = isRoot ? ['setpriv', ...asDaemon] : []
  const [file, ...args] = [...before, 'unshare', '-Urmpf', '--mount-proc', 'true']
  try {
    execFileSync(file, args, { stdio: 'pipe' })
    return null
  } catch {
    return 'ordinary users have no namespaces here'
  }
}
