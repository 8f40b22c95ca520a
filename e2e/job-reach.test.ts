// Compares the table of docs/security.md with what real jobs reach, in every mode that this machine can run.
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { statSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { linuxLacks, needing, rootLacks } from '../testbed/src/needing.ts'
import {
  columns,
  probeScript,
  readProbes,
  readTable,
  rows,
  type Column,
  type Surroundings,
} from './job-reach.ts'
import {
  agentsOf,
  aPipeline,
  asOrdinaryUser,
  build,
  fromFork,
  handOver,
  namespacesLack,
  ordinaryUserLacks,
  sandboxModes,
  start,
  startBuild,
  startIn,
  type JobMode,
} from './local-jobs.ts'
import { aDirectory, aSharedDirectory, eventually, program } from './millrace.ts'

const table = readTable()

it('the table of docs/security.md has a probe for each row', () => {
  for (const column of columns) expect(Object.keys(table[column])).toEqual(rows)
})

/** How a server is started, and the columns of its jobs. */
interface Mode extends JobMode {
  trusted: Column
  fork: Column | null
}

const modes: readonly Mode[] = [
  ...sandboxModes.map((mode): Mode => {
    const sandbox = mode.isRoot ? 'Sandbox, root' : 'Sandbox, user'
    return { ...mode, trusted: `${sandbox}: trusted`, fork: `${sandbox}: fork` }
  }),
  {
    title: 'of root without a sandbox',
    lacks: rootLacks,
    isRoot: true,
    broken: ['bwrap', 'unshare'],
    trusted: 'No sandbox, root: trusted',
    fork: null,
  },
  {
    title: 'of a user without a sandbox',
    lacks: ordinaryUserLacks,
    isRoot: false,
    broken: ['bwrap', 'unshare'],
    trusted: 'No sandbox, user: trusted',
    fork: null,
  },
]

describe('a job of a local agent reaches what docs/security.md says', () => {
  for (const mode of modes) {
    needing('namespaces', linuxLacks ?? mode.lacks).it(mode.title, async () => {
      const { server, surroundings, probe, end } = await aWorld(mode)
      expect(server.output().stderr === '').toBe(mode.fork !== null)
      const trusted = await build(server, probe, {})
      expect(readProbes(trusted.log)).toEqual(table[mode.trusted])
      const fork = await build(server, probe, fromFork)
      if (mode.fork === null) expect(fork.log).toContain('so it takes no builds of forks')
      else expect(readProbes(fork.log)).toEqual(table[mode.fork])
      end()
      expect(surroundings.pids.length).toBeGreaterThan(1)
    })
  }
})

/** A server of an ordinary user, with its data and its home below a system folder. */
async function below(folder: string) {
  const place = aDirectory(folder)
  chmodSync(place, 0o755)
  const home = join(place, 'home')
  mkdirSync(home)
  writeFileSync(join(home, '.netrc'), 'of the operator')
  handOver(place)
  const dataDir = join(place, 'data')
  const server = await start(dataDir, { HOME: home }, asOrdinaryUser)
  const probe = await aPipeline(
    server,
    'none',
    `echo can: $(cat ${home}/.netrc ${dataDir}/secret-key | wc -c)`,
  )
  return { server, probe }
}

describe('a server whose folders are where jobs see the system', () => {
  const { it } = needing('namespaces', rootLacks ?? namespacesLack)

  it('leaves /opt out', async () => {
    const { server, probe } = await below('/opt')
    for (const kind of [{}, fromFork]) expect((await build(server, probe, kind)).log).toContain('\ncan: 0\n')
  })

  it('has no sandbox where its data is in /usr', async () => {
    const { server, probe } = await below('/usr/local')
    expect(server.output().stderr).toContain('the data of this server is in /usr, which jobs see')
    expect((await build(server, probe, fromFork)).log).toContain('so it takes no builds of forks')
  })
})

/** A server with two agents: one runs a job of another pipeline until the end, the other runs the probes. */
async function aWorld(mode: Mode) {
  const shared = aSharedDirectory()
  const { server, home, dataDir } = await startIn(mode, { MILLRACE_AGENTS: '2' })
  const [place, over, secret] = [join(shared, 'place'), join(shared, 'over'), randomBytes(8).toString('hex')]
  const wait = `touch of-another-pipeline; pwd >${place}.new; mv ${place}.new ${place}; while [ ! -e ${over} ]; do sleep 0.1; done`
  await startBuild(server, await aPipeline(server, 'none', wait), { env: { SECRET_OF_ANOTHER: secret } })
  const otherWorkspace = await eventually(
    'the other job runs',
    async () => existsSync(place) && readFileSync(place, 'utf8').trim(),
  )
  const surroundings = {
    ...(await aMachine(home)),
    dataDir,
    databaseFiles: /files in (.*)$/.exec(server.database)?.[1] ?? '',
    pids: [server.pid, ...agentsOf(server)],
    sharedFile: join(shared, 'file'),
    program,
    otherWorkspace,
    otherSecret: secret,
  }
  writeFileSync(surroundings.sharedFile, 'shared')
  const skipped = `if [ ! -e before ] && [ "$BUILDKITE_BRANCH" = main ]; then touch before; exit; fi\n`
  const probe = await aPipeline(server, 'none', skipped + probeScript(surroundings))
  expect((await build(server, probe, {})).state).toBe('passed')
  return { server, surroundings, probe, end: () => writeFileSync(over, '') }
}

/** What other programs of the machine have, open to all users as far as the operator's home does not hide it. */
async function aMachine(
  home: string,
): Promise<
  Pick<
    Surroundings,
    | 'home'
    | 'temporaryFile'
    | 'socket'
    | 'abstractSocket'
    | 'port'
    | 'memoryFile'
    | 'ipcNamespace'
    | 'terminals'
  >
> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-reach-'))
  const memoryFile = `/dev/shm/millrace-reach-${randomBytes(8).toString('hex')}`
  onTestFinished(() => {
    for (const path of [folder, memoryFile]) rmSync(path, { recursive: true, force: true })
  })
  chmodSync(folder, 0o755)
  const temporaryFile = join(folder, 'file')
  for (const path of [temporaryFile, memoryFile]) writeFileSync(path, 'of the machine')
  const socket = join(folder, 'socket')
  const abstractSocket = `millrace-reach-${randomBytes(8).toString('hex')}`
  await listen(socket)
  chmodSync(socket, 0o777)
  await listen(`\0${abstractSocket}`)
  const port = (await listen(0)).port
  const ipcNamespace = readlinkSync('/proc/self/ns/ipc')
  const terminals = String(statSync('/dev/pts').dev)
  return { home, temporaryFile, socket, abstractSocket, port, memoryFile, ipcNamespace, terminals }
}

async function listen(where: string | number): Promise<AddressInfo> {
  const server = createServer((connection) => connection.end())
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    if (typeof where === 'string') server.listen(where, resolve)
    else server.listen(where, '127.0.0.1', resolve)
  })
  const address = server.address()
  return typeof address === 'object' && address !== null ? address : { port: 0, address: '', family: '' }
}
