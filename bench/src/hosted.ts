// Hosted jobs: the time from runnable to the start of the command, in a fresh and in a warm container, compared with the
// time of the engine alone for the same image. Starts an engine, or uses the engine or Kubernetes of MILLRACE_HOSTED,
// MILLRACE_HOSTED_BASE_IMAGE and HOST (an address of this machine that containers can reach).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import Docker from 'dockerode'
import { engineNames, importImage, startEngine } from '../../testbed/dist/engine.js'
import { runPod } from './hosted-pod.ts'
import { row, type Report } from './harness/report.ts'

const rounds = 10
const mostOverheadMs = 300
const mostWarmMs = 2000
const ownImage = 'localhost/millrace-bench/jobs:1'

export async function benchHosted(): Promise<Report> {
  const engine = await findEngine()
  if ('lacks' in engine) return { name: 'hosted', rows: [row('skipped', engine.lacks)], targets: [] }
  try {
    return await measure(engine)
  } finally {
    await engine.stop()
  }
}

interface BenchEngine {
  name: string
  /** The value of MILLRACE_HOSTED. */
  hosted: string
  image: string
  host: string
  /** Milliseconds that the engine alone takes to start a command in the image. */
  run(): Promise<number>
  stop(): Promise<void>
}

/** The engine of the environment, or a new one. */
async function findEngine(): Promise<BenchEngine | { lacks: string }> {
  const { MILLRACE_HOSTED: hosted, MILLRACE_HOSTED_BASE_IMAGE: image, HOST: host } = process.env
  if (hosted && image && host) {
    const [, namespace] = /^kubernetes:(.*)$/.exec(hosted) ?? []
    const [name, run] =
      namespace === undefined
        ? ['the engine', () => runInEngine(hosted.replace(/^\w+:\/\//, ''), image)]
        : ['Kubernetes', () => runInPod(namespace, image)]
    return { name, hosted, image, host, run, stop: async () => {} }
  }
  const wanted = process.env['MILLRACE_TEST_ENGINES']?.toLowerCase().split(',')
  const reasons: string[] = []
  for (const name of engineNames) {
    if (wanted !== undefined && !wanted.includes(name.toLowerCase())) continue
    try {
      const { socketPath, hostAddress, stop } = await startEngine(name)
      await importImage(new Docker({ socketPath }), ownImage, ['bash', 'date', 'env', 'mkfifo'])
      const run = () => runInEngine(socketPath, ownImage)
      return { name, hosted: `docker://${socketPath}`, image: ownImage, host: hostAddress, run, stop }
    } catch (error) {
      reasons.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  const given = 'MILLRACE_HOSTED, MILLRACE_HOSTED_BASE_IMAGE and HOST name another'
  return { lacks: `no container engine runs here (${reasons.join('; ')}); ${given}` }
}

async function measure(engine: BenchEngine): Promise<Report> {
  const own: number[] = []
  const cold: number[] = []
  const warm: number[] = []
  const coldServer = await startServer(engine, '0')
  try {
    await coldServer.runJob()
    for (let round = 0; round < rounds; round++) {
      own.push(await engine.run())
      cold.push(await coldServer.runJob())
    }
  } finally {
    await coldServer.stop()
  }
  const warmServer = await startServer(engine, '1')
  try {
    await warmServer.runJob()
    for (let round = 0; round < rounds; round++) {
      await warmServer.untilWarm()
      warm.push(await warmServer.runJob())
    }
  } finally {
    await warmServer.stop()
  }
  const overhead = median(cold) - median(own)
  return {
    name: 'hosted',
    rows: [
      row(`${engine.name} runs the image`, `${median(own)} ms`, spread(own)),
      row('a job, fresh container', `${median(cold)} ms`, spread(cold)),
      row('a job, warm container', `${median(warm)} ms`, spread(warm)),
    ],
    targets: [
      {
        what: 'fresh container, beyond the engine’s own run',
        target: `under ${mostOverheadMs} ms`,
        measured: `${overhead} ms`,
        met: overhead < mostOverheadMs,
      },
      {
        what: 'warm container, runnable to command',
        target: `under ${mostWarmMs} ms`,
        measured: `${median(warm)} ms`,
        met: median(warm) < mostWarmMs,
      },
    ],
  }
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
const spread = (values: readonly number[]) =>
  `${Math.min(...values)} to ${Math.max(...values)} ms of ${values.length}`

const tellTime = 'date +%s%3N'
const program = fileURLToPath(new URL('../../packages/cli/bin/millrace.js', import.meta.url))

interface BenchServer {
  /** Milliseconds from runnable to the start of its command. */
  runJob(): Promise<number>
  untilWarm(): Promise<void>
  stop(): Promise<void>
}

async function startServer(engine: BenchEngine, warmAgents: string): Promise<BenchServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const child = spawn(process.execPath, [program, 'up', '--json'], {
    env: {
      ...process.env,
      PORT: '0',
      MILLRACE_AGENTS: '0',
      MILLRACE_DATA_DIR: dataDir,
      MILLRACE_HOSTED: engine.hosted,
      MILLRACE_HOSTED_BASE_IMAGE: engine.image,
      HOST: engine.host,
      MILLRACE_HOSTED_WARM_AGENTS: warmAgents,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const { url, first } = JSON.parse(line.toString()) as { url: string; first: { token: string } }
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${url}/v2/organizations/default${path}`, {
      method,
      headers: { Authorization: `Bearer ${first.token}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`)
    return (await answer.json()) as Record<string, unknown>
  }
  const cluster = await ask('POST', '/clusters', { name: 'Bench', hosted: true })
  const at = `/clusters/${String(cluster['id'])}`
  const instanceShape = `LINUX_${process.arch === 'arm64' ? 'ARM64' : 'AMD64'}_2X4`
  const queue = await ask('POST', `${at}/queues`, { key: 'default', hostedAgents: { instanceShape } })
  await ask('PUT', at, { default_queue_id: queue['id'] })
  await ask('POST', '/pipelines', {
    name: 'Bench',
    repository: 'https://git.example.com/bench.git',
    cluster_id: cluster['id'],
    configuration: `steps: [{ command: "${tellTime}", checkout: { skip: true } }]`,
  })
  return {
    async runJob() {
      const build = await ask('POST', '/pipelines/bench/builds', {
        commit: 'HEAD',
        branch: 'main',
        message: 'x',
      })
      const path = `/pipelines/bench/builds/${String(build['number'])}`
      for (;;) {
        const { finished_at: end, jobs } = (await ask('GET', path)) as {
          finished_at: string | null
          jobs: Array<{ id: string; runnable_at: string }>
        }
        const [job] = jobs
        if (end === null || job === undefined) await delay(20)
        else {
          const { content } = await ask('GET', `${path}/jobs/${job.id}/log`)
          return readTime(String(content)) - Date.parse(job.runnable_at)
        }
      }
    },
    async untilWarm() {
      for (;;) {
        const agents = (await ask('GET', '/agents')) as unknown as Array<{ job?: unknown }>
        if (agents.length === 1 && agents.every(({ job }) => !job)) return
        await delay(20)
      }
    },
    async stop() {
      // Pausing the queue ends warm containers, so nothing stays in the engine.
      await ask('POST', `${at}/queues/${String(queue['id'])}/pause_dispatch`, {})
      while (((await ask('GET', '/agents')) as unknown as unknown[]).length > 0) await delay(20)
      child.kill('SIGTERM')
      await once(child, 'exit')
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

function readTime(output: string): number {
  // Each line of a log begins with its time.
  const [, time] = /^(\d{13})\s*$/m.exec(output.replaceAll(/\r|\u001b_bk;t=\d+\u0007/g, '')) ?? []
  if (time === undefined) throw new Error(`The command did not print the time: ${output.slice(-500)}`)
  return Number(time)
}

/** Like `docker run`: creates and starts a container, and returns its output. */
async function runInEngine(socketPath: string, image: string): Promise<number> {
  const call = (method: string, path: string, body?: object) => callEngine(socketPath, method, path, body)
  const begun = Date.now()
  const { Id } = JSON.parse(
    await call('POST', '/containers/create', {
      Image: image,
      Entrypoint: ['/bin/sh', '-c', tellTime],
      HostConfig: { NanoCpus: 2e9, Memory: 4 * 1024 ** 3 },
    }),
  ) as { Id: string }
  await call('POST', `/containers/${Id}/start`)
  await call('POST', `/containers/${Id}/wait`)
  const output = await call('GET', `/containers/${Id}/logs?stdout=1`)
  await call('DELETE', `/containers/${Id}?force=1`)
  return Number(/(\d{13})/.exec(output)?.[1]) - begun
}

async function runInPod(namespace: string, image: string): Promise<number> {
  const { begun, output } = await runPod(namespace, image, ['/bin/sh', '-c', tellTime])
  return Number(/(\d{13})/.exec(output)?.[1]) - begun
}

async function callEngine(socketPath: string, method: string, path: string, body?: object): Promise<string> {
  const sent = request({
    socketPath,
    method,
    path,
    headers: { 'Content-Type': 'application/json', Host: 'engine' },
  })
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  const said = await text(answer)
  if ((answer.statusCode ?? 500) >= 400) throw new Error(`The engine refused ${method} ${path}: ${said}`)
  return said
}
