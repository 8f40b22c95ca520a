// The time from `POST …/builds` to the first output of the command on an agent. The command prints its start time, so the
// figure includes neither the transport of the log nor our polling.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { analyze, type BenchServer } from '../harness/bench-server.ts'
import { row, type Report } from '../harness/report.ts'
import { seedPipeline } from '../harness/seed.ts'

const builds = 200
const warmUp = 100
const targets = { p50: 25, p95: 75 }

/** bash prints the time without starting a program. */
const configuration = `
env: {BUILDKITE_SKIP_CHECKOUT: "true"}
steps:
  - command: echo "began $$EPOCHREALTIME"
`

interface Runner {
  title: string
  command: string
  args: string[]
  env?: Record<string, string>
  /** Absent: the figure is only shown. */
  target?: typeof targets
}

export async function dispatchLatency(bench: BenchServer): Promise<Omit<Report, 'name'>> {
  await seedPipeline(bench.database.db, bench.seeded, 'latency', configuration)
  const report: Omit<Report, 'name'> = { rows: [], targets: [] }
  for (const runner of runners(bench)) {
    const times = await measure(bench, runner)
    const at = (share: number) => times[Math.floor(times.length * share)] ?? 0
    const [p50, p95, most] = [at(0.5), at(0.95), at(1 - 1 / times.length)]
    report.rows.push(
      row(
        `trigger to first output, ${runner.title}`,
        `p50 ${p50.toFixed(1)} ms`,
        `p95 ${p95.toFixed(1)} ms, most ${most.toFixed(1)} ms, ${times.length} builds`,
      ),
    )
    for (const [name, measured] of runner.target
      ? ([
          ['p50', p50],
          ['p95', p95],
        ] as const)
      : []) {
      report.targets.push({
        what: `trigger to first output, ${runner.title}, ${name}`,
        target: `≤ ${targets[name]} ms`,
        measured: `${measured.toFixed(1)} ms`,
        met: measured <= targets[name],
      })
    }
  }
  return report
}

function runners({ address, agentToken }: BenchServer): Runner[] {
  const millrace = fileURLToPath(new URL('../../../packages/cli/bin/millrace.js', import.meta.url))
  const common = ['--token', agentToken, '--endpoint', `${address}/v3`]
  const own = [millrace, 'agent', 'start', ...common]
  const other = process.env['BUILDKITE_AGENT_BIN']
  const others: Runner[] =
    other === undefined
      ? []
      : [
          {
            title: 'buildkite-agent, as it comes',
            command: other,
            args: ['start', ...common],
          },
        ]
  return [
    { title: 'our runner, ping stream', command: process.execPath, args: own, target: targets },
    {
      title: 'our runner, held pings',
      command: process.execPath,
      args: [...own, '--ping-mode', 'poll-only'],
    },
    ...others,
  ]
}

async function measure(bench: BenchServer, runner: Runner): Promise<number[]> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-agent-'))
  const agent = startRunner(runner, folder)
  try {
    const times: number[] = []
    for (let count = 0; count < warmUp + builds; count++) {
      if (count === warmUp) await analyze(bench)
      const ms = await oneBuild(bench)
      if (count >= warmUp) times.push(ms)
      // Lets the agent become idle; random, so that builds do not coincide with its pings.
      await delay(30 + Math.random() * 40)
    }
    return times.sort((a, b) => a - b)
  } finally {
    agent.kill('SIGTERM')
    if (agent.exitCode === null && agent.signalCode === null) await once(agent, 'exit')
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

function startRunner({ command, args }: Runner, folder: string): ChildProcess {
  const places = ['build', 'plugins', 'sockets', 'hooks'].map(
    (name) => `--${name}-path=${join(folder, name)}`,
  )
  const isOwn = command === process.execPath
  return spawn(command, [...args, ...(isOwn ? places.slice(0, 1) : places)], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

async function oneBuild({ address, seeded }: BenchServer): Promise<number> {
  const base = `${address}/v2/organizations/${seeded.slug}`
  const headers = { authorization: `Bearer ${seeded.token}`, 'content-type': 'application/json' }
  const startedAt = performance.timeOrigin + performance.now()
  const answer = await fetch(`${base}/pipelines/latency/builds`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ commit: 'HEAD', branch: 'main', message: 'latency' }),
  })
  if (!answer.ok) throw new Error(`The build was refused: ${await answer.text()}`)
  const build = (await answer.json()) as { jobs: Array<{ id: string }>; number: number }
  const giveUpAt = Date.now() + 30_000
  while (Date.now() < giveUpAt) {
    // Polls rarely, because polling takes time of the server and the agent.
    await delay(100)
    const shown = await fetch(`${base}/pipelines/latency/builds/${build.number}`, { headers })
    const { state } = (await shown.json()) as { state: string }
    if (state !== 'passed' && state !== 'failed') continue
    const log = await fetch(`${base}/jobs/${build.jobs[0]?.id}/log.txt`, { headers })
    const began = /^began (\d+)[.,](\d+)/m.exec(await log.text())
    if (began === null) throw new Error(`The job ${state} without printing its start time.`)
    return Number(`${began[1]}.${began[2]}`) * 1000 - startedAt
  }
  throw new Error('The build did not end within 30 s.')
}
