// Buildbot, with SQLite as its tutorial sets it up, its two workers, and a force scheduler that its REST API triggers.
import { execFileSync, type ChildProcess } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../../testbed/dist/free-port.js'
import type { Peer, RunningPeer, Scripts } from './peer.ts'
import { endProgram, startProgram, until } from './processes.ts'

const workers = ['worker0', 'worker1']
const password = 'bench'

/** The programs themselves, because they lie beside the Python only in some installations. */
const buildbot = ['-c', 'from buildbot.scripts.runner import run; run()']
const buildbotWorker = ['-c', 'from buildbot_worker.scripts.runner import run; run()']

export function buildbotWith(python: string): Peer {
  const run = (...args: string[]) => execFileSync(python, args, { encoding: 'utf8' })
  return {
    name: 'Buildbot',
    isOurs: false,
    version: run('-c', 'import buildbot; print(buildbot.version)').trim(),

    async measureStart(folder) {
      const master = await prepareMaster(python, folder, { noop: 'true', began: 'true', log: 'true' })
      const startedAt = performance.now()
      const child = await startMaster(python, master)
      const ms = performance.now() - startedAt
      await endProgram(child)
      return ms
    },

    async start(folder, scripts): Promise<RunningPeer> {
      const master = await prepareMaster(python, folder, scripts)
      const child = await startMaster(python, master)
      const ask = asker(master.url)
      const children = [child, ...workers.map((name) => startWorker(python, master, name))]
      await until(async () => {
        const { workers: known } = await ask<{ workers: Array<{ connected_to: unknown[] }> }>('workers')
        return known.filter(({ connected_to }) => connected_to.length > 0).length === workers.length
      })
      const { builders } = await ask<{ builders: Array<{ name: string; builderid: number }> }>('builders')
      const idOf = (script: string) => builders.find(({ name }) => name === script)?.builderid
      const force = (builder: string) =>
        ask(`forceschedulers/${builder}`, {
          id: 1,
          jsonrpc: '2.0',
          method: 'force',
          params: { reason: 'bench' },
        })
      return {
        pids: children.map(({ pid }) => pid ?? 0),
        trigger: async (script) => void (await force(script)),
        triggerWaiting: async () => void (await force('waiting')),
        allFinished: (script) =>
          until(async () => {
            const open = await ask<{ buildrequests: unknown[] }>(
              `builders/${idOf(script)}/buildrequests?complete=false&limit=1`,
            )
            return open.buildrequests.length === 0
          }),
        fill: async (builds) =>
          void run('-c', fillScript, join(master.folder, 'state.sqlite'), String(builds)),
        list: async () => void (await ask('builds?limit=50&order=-buildid')),
        async stop() {
          await Promise.all(children.map(endProgram))
        },
      }
    },
  }
}

interface Master {
  folder: string
  url: string
  workerPort: number
}

async function prepareMaster(python: string, folder: string, scripts: Scripts): Promise<Master> {
  const [port, workerPort] = [await freePort(), await freePort()]
  const master = join(folder, 'master')
  mkdirSync(master, { recursive: true })
  execFileSync(python, [...buildbot, 'create-master', '--quiet', master])
  const url = `http://127.0.0.1:${port}/`
  writeFileSync(join(master, 'master.cfg'), configuration(scripts, url, port, workerPort))
  return { folder: master, url, workerPort }
}

/** JSON is also Python, for these values. */
const configuration = (scripts: Scripts, url: string, port: number, workerPort: number) => `
from buildbot.plugins import schedulers, steps, util, worker
c = BuildmasterConfig = {}
names = ${JSON.stringify(workers)}
scripts = ${JSON.stringify(scripts)}
c['workers'] = [worker.Worker(name, '${password}', max_builds=1) for name in [*names, 'absent']]
c['protocols'] = {'pb': {'port': 'tcp:${workerPort}:interface=127.0.0.1'}}
c['builders'] = [
    util.BuilderConfig(
        name=name,
        workernames=names if name in scripts else ['absent'],
        collapseRequests=False,
        factory=util.BuildFactory([steps.ShellCommand(command=['bash', '-c', scripts.get(name, 'true')])]),
    )
    for name in [*scripts, 'waiting']
]
c['schedulers'] = [
    schedulers.ForceScheduler(name=name, builderNames=[name], codebases=[util.CodebaseParameter(codebase='')])
    for name in [*scripts, 'waiting']
]
c['www'] = {'port': 'tcp:${port}:interface=127.0.0.1', 'plugins': {}}
c['db'] = {'db_url': 'sqlite:///state.sqlite'}
c['buildbotURL'] = '${url}'
c['buildbotNetUsageData'] = None
`

/** Copies the first build. */
const fillScript = `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=60)
db.execute('''
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
    insert into builds (number, builderid, buildrequestid, workerid, masterid, started_at, complete_at,
        locks_duration_s, state_string, results)
    select 1000000 + i, builderid, buildrequestid, workerid, masterid, started_at, complete_at, 0, state_string, results
    from n, (select * from builds order by id limit 1)''', (int(sys.argv[2]),))
db.commit()
`

async function startMaster(python: string, { folder, url }: Master): Promise<ChildProcess> {
  const child = startProgram(python, [...buildbot, 'start', '--nodaemon', folder], folder)
  await until(async () => (await fetch(`${url}api/v2/masters`).catch(() => null))?.ok ?? false)
  return child
}

function startWorker(python: string, { folder, workerPort }: Master, name: string): ChildProcess {
  const home = join(folder, name)
  const address = `127.0.0.1:${workerPort}`
  execFileSync(python, [...buildbotWorker, 'create-worker', '--quiet', home, address, name, password])
  return startProgram(python, [...buildbotWorker, 'start', '--nodaemon', home], folder)
}

const asker =
  (url: string) =>
  async <T>(path: string, body?: object): Promise<T> => {
    const answer = await fetch(`${url}api/v2/${path}`, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: { 'content-type': 'application/json' },
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as T
  }
