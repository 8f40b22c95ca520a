// Starts and stops of `npm start`. The start of a fresh clone builds first, and its server must not keep the memory of the build.
// A stop ends within ten seconds, whatever goes on.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { copyCheckout } from '../../testbed/dist/checkout.js'
import { memoryMegabytes } from './build-cost/cpu.ts'
import { end, firstLine } from './build-cost/world.ts'
import { row, type Report } from './harness/report.ts'

const promisedMs = 10_000
const mostMemory = 1.25

interface Started {
  url: string
  pid: number
  first: { token: string } | null
}

interface Running {
  child: ChildProcess
  started: Started
  startMs: number
}

export async function benchStart(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-start-'))
  const checkout = join(folder, 'checkout')
  copyCheckout(checkout)
  try {
    return await measure(() => start(checkout, join(folder, 'data')))
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
}

async function measure(startAgain: () => Promise<Running>): Promise<Report> {
  const first = await startAgain()
  const firstMegabytes = memoryMegabytes(first.started.pid)
  const token = first.started.first?.token ?? ''
  const stops = new Map([['nothing going on', await stopTime(first.child)]])
  const second = await startAgain()
  const megabytes = memoryMegabytes(second.started.pid)

  const socket = await beginRequest(second.started.url, token)
  stops.set('a request that never ends', await stopTime(second.child))
  socket.destroy()
  const third = await startAgain()
  await beginJob(third.started.url, token)
  stops.set('a running job', await stopTime(third.child))

  const ratio = firstMegabytes / megabytes
  return {
    name: 'start',
    rows: [
      row('start that builds', seconds(first.startMs), `${firstMegabytes.toFixed(0)} MB afterwards`),
      row('start', seconds(second.startMs), `${megabytes.toFixed(0)} MB afterwards`),
      ...Array.from(stops, ([during, ms]) => row(`stop during ${during}`, seconds(ms))),
    ],
    targets: [
      {
        what: 'memory after a start that builds, of that after another',
        target: `≤ ${mostMemory}`,
        measured: ratio.toFixed(2),
        met: ratio <= mostMemory,
      },
      ...Array.from(stops, ([during, ms]) => ({
        what: `stop during ${during}, of the promised ${seconds(promisedMs)}`,
        target: '≤ 1',
        measured: (ms / promisedMs).toFixed(2),
        met: ms <= promisedMs,
      })),
    ],
  }
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

async function start(checkout: string, dataDir: string): Promise<Running> {
  const begin = performance.now()
  const child = spawn(process.execPath, [join(checkout, 'tools', 'start.mjs'), '--json'], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], MILLRACE_DATA_DIR: dataDir, PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const started = JSON.parse(await firstLine(child)) as Started
  return { child, started, startMs: performance.now() - begin }
}

async function stopTime(child: ChildProcess): Promise<number> {
  const begin = performance.now()
  await end(child)
  if (child.exitCode !== 0) throw new Error(`The stop ended with ${child.exitCode}.`)
  return performance.now() - begin
}

/** A request whose body does not come. Resolves when the server has asked for it. */
async function beginRequest(url: string, token: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  const head = [
    'POST /v2/organizations/default/clusters HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    'Content-Length: 100',
    'Expect: 100-continue',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  await once(socket, 'data')
  return socket
}

async function beginJob(url: string, token: string): Promise<void> {
  const ask = async (path: string, init: RequestInit = {}) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const answer = await fetch(`${url}/v2/organizations/default/pipelines${path}`, { ...init, headers })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as { state: string }
  }
  const post = (path: string, body: object) => ask(path, { method: 'POST', body: JSON.stringify(body) })
  await post('', {
    name: 'Long',
    repository: 'none',
    configuration: 'env: {BUILDKITE_SKIP_CHECKOUT: "true"}\nsteps: [{command: sleep 3600}]',
  })
  await post('/long/builds', { commit: 'HEAD', branch: 'main' })
  while ((await ask('/long/builds/1')).state !== 'running') await delay(50)
}
