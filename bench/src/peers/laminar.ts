// Laminar, whose server runs the jobs itself: its executors are the agents. Its own client triggers builds, as it has no other way.
import { execFile, execFileSync, type ChildProcess } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../../testbed/dist/free-port.js'
import type { Peer, RunningPeer, Scripts } from './peer.ts'
import { endProgram, startProgram, until } from './processes.ts'

/** Of the builds of a job. */
const pageSize = 20
const listed = 50

/** `folder` has the programs `laminard` and `laminarc`. */
export function laminarIn(folder: string): Peer {
  const server = join(folder, 'laminard')
  const client = join(folder, 'laminarc')
  return {
    name: 'Laminar',
    isOurs: false,
    version: /version (\S+)/.exec(execFileSync(server, ['-h'], { encoding: 'utf8' }))?.[1] ?? 'unknown',

    async measureStart(home) {
      const { child: first } = await startServer(server, home, { noop: 'true', began: 'true', log: 'true' })
      await endProgram(first)
      const startedAt = performance.now()
      const { child } = await startServer(server, home, { noop: 'true', began: 'true', log: 'true' })
      const ms = performance.now() - startedAt
      await endProgram(child)
      return ms
    },

    async start(home, scripts): Promise<RunningPeer> {
      const { child, url, address } = await startServer(server, home, scripts)
      const env = { ...process.env, LAMINAR_HOST: address }
      const ask = async (...args: string[]) => (await promisify(execFile)(client, args, { env })).stdout
      const isOpen = async (job: string) =>
        [await ask('show-queued'), await ask('show-running')].some((runs) =>
          new RegExp(`^${job}:`, 'm').test(runs),
        )
      return {
        pids: [child.pid ?? 0],
        trigger: async (script) => void (await ask('queue', script)),
        triggerWaiting: async () => void (await ask('queue', 'waiting')),
        allFinished: (script) => until(async () => !(await isOpen(script))),
        fill: async (builds) =>
          void execFileSync('python3', ['-c', fillScript, join(home, 'laminar.sqlite'), String(builds)]),
        async list() {
          for (let page = 0; page * pageSize < listed; page++)
            await readPage(`${url}/jobs/filled?page=${page}`)
        },
        stop: () => endProgram(child),
      }
    },
  }
}

async function startServer(
  program: string,
  home: string,
  scripts: Scripts,
): Promise<{ child: ChildProcess; url: string; address: string }> {
  writeConfiguration(home, scripts)
  const host = `127.0.0.1:${await freePort()}`
  const address = `unix:${join(home, 'rpc')}`
  const env = { ...process.env, LAMINAR_HOME: home, LAMINAR_BIND_HTTP: host, LAMINAR_BIND_RPC: address }
  const child = startProgram(program, [], home, env)
  const url = `http://${host}`
  await until(async () => (await fetch(`${url}/`).catch(() => null))?.ok ?? false, 5)
  return { child, url, address }
}

function writeConfiguration(home: string, scripts: Scripts): void {
  const [jobs, contexts] = [join(home, 'cfg', 'jobs'), join(home, 'cfg', 'contexts')]
  for (const folder of [jobs, contexts]) mkdirSync(folder, { recursive: true })
  for (const [name, command] of Object.entries({ ...scripts, waiting: 'true' })) {
    const file = join(jobs, `${name}.run`)
    writeFileSync(file, `#!/bin/bash\n${command}\n`)
    chmodSync(file, 0o755)
  }
  writeFileSync(join(jobs, 'waiting.conf'), 'CONTEXTS=nobody\n')
  writeFileSync(join(contexts, 'default.conf'), 'EXECUTORS=2\n')
  writeFileSync(join(contexts, 'nobody.conf'), 'EXECUTORS=0\n')
}

/** Its pages take their data from the first message of an event stream. */
async function readPage(url: string): Promise<void> {
  const answer = await fetch(url, { headers: { accept: 'text/event-stream' } })
  if (answer.body === null) throw new Error(`${url} has no body.`)
  let text = ''
  for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (text.includes('\n\n')) break
  }
  JSON.parse(text.replace(/^data: /, ''))
}

/** Copies the newest build. */
const fillScript = `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=60)
db.execute('''
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
    insert into builds (name, number, node, queuedAt, startedAt, completedAt, result, output, outputLen, reason)
    select 'filled', i, node, queuedAt, startedAt, completedAt, result, output, outputLen, reason
    from n, (select * from builds where result is not null order by completedAt desc limit 1)''', (int(sys.argv[2]),))
db.commit()
`
