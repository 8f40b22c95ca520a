// Attacks of a hostile job on the installation of a local agent: with users for jobs (root), with namespaces (an ordinary
// user), and without either.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect } from 'vitest'
import { needing, rootLacks } from '../testbed/src/needing.ts'
import {
  aFolder,
  agentsOf,
  aHome,
  aPipeline,
  asOrdinaryUser,
  build,
  fromFork,
  handOver,
  isRoot,
  kept,
  namespacesLack,
  ordinaryUserLacks,
  pathWithBroken,
  start,
} from './local-jobs.ts'
import { aSharedDirectory, launch, program, stop, type Server, type Settings } from './millrace.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
describe('abuse case R1: a hostile job of a local agent', () => {
  needing('root', rootLacks).it('reaches nothing of the installation as another user', async () => {
    const dataDir = join(aFolder(), 'data')
    const { reached } = await attack(await start(dataDir, {}), dataDir, aRepository())
    expect(reached).toBeNull()
  })

  needing('namespaces', namespacesLack).it('reaches nothing of the installation in namespaces', async () => {
    const home = aHome(false)
    const dataDir = join(home, 'data')
    const repository = aRepository()
    if (isRoot) handOver(repository)
    const server = await start(dataDir, { HOME: home }, asOrdinaryUser)
    const { reached } = await attack(server, dataDir, repository)
    expect(reached).toBeNull()
  })

  needing('not-root', ordinaryUserLacks).it(
    "is refused if it is a fork's and cannot be separated",
    async () => {
      const home = aHome(false)
      const settings = { HOME: home, PATH: pathWithBroken(['bwrap', 'unshare']) }
      const server = await start(join(home, 'data'), settings, asOrdinaryUser)
      expect(server.output().stderr).toMatch(
        /^Jobs of the local agent run as the user of this server .*\.\n$/,
      )
      const pipeline = await aPipeline(server, 'none', 'echo ran')
      const own = await build(server, pipeline, {})
      expect(own).toMatchObject({ state: 'passed', log: expect.stringContaining('ran\n') })
      const fork = await build(server, pipeline, fromFork)
      expect(fork).toMatchObject({
        state: 'failed',
        log: expect.stringContaining('so it takes no builds of forks'),
      })
      expect(fork.log).not.toContain('ran\n')
    },
  )
})

describe('a job of a local agent', () => {
  needing('root', rootLacks).it('cannot end its own process, and ends no other', async () => {
    const server = await start(join(aFolder(), 'data'), {})
    const killer = await aPipeline(server, 'none', 'kill -9 $BUILDKITE_AGENT_PID; kill -9 -1; exit 3')
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
  const [agent] = agentsOf(server)
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
`
  const pipeline = await aPipeline(server, repository, script)
  const trusted = await build(server, pipeline, {})
  expect(trusted.log).toContain('file of the repository')
  expect(trusted.log.match(/^(kept|REACHED)/gm)).toHaveLength(19)
  expect(trusted.state).toBe('passed')
  const { body: members } = await server.get('/v2/organizations/default/members')
  expect(JSON.stringify(members)).not.toContain('e@example.com')

  expect((await stop(server)).code).toBe(0)
  return { reached: trusted.log.match(/^REACHED.*$/gm) }
}

/** Owned by the user of the tests, readable for all. */
function aRepository(): string {
  const folder = aSharedDirectory()
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
