// Compares Millrace with other servers on this machine in one run. The servers take turns, so that a machine whose speed varies
// treats them alike; a server that waits for its turn does nothing.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { cpuOfFamily, memoryOfFamily } from './build-cost/cpu.ts'
import { logMegabytes, writeLines } from './build-cost/log.ts'
import { middle } from './harness/load.ts'
import { buildbotWith } from './peers/buildbot.ts'
import { laminarIn } from './peers/laminar.ts'
import { millrace, millraceSeparate } from './peers/millrace.ts'
import type { Peer, RunningPeer } from './peers/peer.ts'
import type { Report } from './harness/report.ts'

const rounds = 3
const singleBuilds = 20
const manyBuilds = 100
const requests = 48
const idleMs = 10_000
const filledBuilds = 10_000
const lists = 30

interface Competitor {
  peer: Peer
  running: RunningPeer
  /** The file to which the command of `began` writes the time. */
  beganFile: string
}

interface Measure {
  what: string
  unit: string
  /** Whether more is better. */
  isRate?: boolean
  /** By default each round measures once. */
  isOnce?: boolean
  of(competitor: Competitor): Promise<number>
}

const measures: readonly Measure[] = [
  {
    what: 'start, on an existing database',
    unit: 'ms',
    of: ({ peer }) => inFolder((folder) => peer.measureStart(folder)),
  },
  { what: 'CPU while idle', unit: '% of a core', of: idleCpu },
  { what: 'trigger to command, p50', unit: 'ms', of: (one) => triggerToCommand(one, 0.5) },
  { what: 'trigger to command, p95', unit: 'ms', of: (one) => triggerToCommand(one, 0.95) },
  { what: 'builds that do nothing, 2 agents', unit: '/s', isRate: true, of: buildRate },
  { what: 'trigger requests, one after another', unit: '/s', isRate: true, of: (one) => triggerRate(one, 1) },
  { what: 'trigger requests, 16 at once', unit: '/s', isRate: true, of: (one) => triggerRate(one, 16) },
  { what: `a job that prints ${logMegabytes} MB`, unit: 's', isOnce: true, of: longLog },
  {
    what: 'memory after that, with agents and database',
    unit: 'MB',
    isOnce: true,
    of: async ({ running }) => sum(running.pids.map(memoryOfFamily)),
  },
  { what: `list of 50 builds of ${filledBuilds}, p50`, unit: 'ms', of: listTime },
]

export async function benchPeers(): Promise<Report> {
  const missing = process.env['BENCH_BUILDBOT_MISSING']
  if (missing !== undefined) console.log(`Buildbot cannot be measured here. ${missing}`)
  const python = process.env['BENCH_BUILDBOT_PYTHON']
  const laminar = process.env['MILLRACE_BENCH_LAMINAR']
  const peers = [
    millrace,
    millraceSeparate,
    ...(laminar === undefined ? [] : [laminarIn(laminar)]),
    ...(python === undefined ? [] : [buildbotWith(python)]),
  ]
  return inFolder(async (folder) => {
    const competitors: Competitor[] = []
    try {
      await writeLines(join(folder, 'log'))
      for (const peer of peers) competitors.push(await start(peer, folder))
      for (const competitor of competitors) await warmUp(competitor)
      return { name: 'peers', rows: await compare(competitors), targets: [] }
    } finally {
      for (const { running } of competitors) await running.stop()
    }
  })
}

async function start(peer: Peer, folder: string): Promise<Competitor> {
  // Shells read this path.
  const home = join(folder, peer.name.replaceAll(/\W+/g, '-'))
  const beganFile = join(home, 'began')
  const scripts = {
    noop: 'true',
    began: `echo $EPOCHREALTIME >> ${beganFile}`,
    log: `cat ${join(folder, 'log')}`,
  }
  mkdirSync(home)
  // Jobs of local agents run as another user, if the server runs as root.
  for (const path of [folder, home]) chmodSync(path, 0o755)
  writeFileSync(beganFile, '')
  chmodSync(beganFile, 0o666)
  const running = await peer.start(home, scripts)
  return { peer, running, beganFile }
}

/** The first builds are slower everywhere. */
async function warmUp(competitor: Competitor): Promise<void> {
  await triggerToCommand(competitor, 0.5)
  await buildRate(competitor)
  await competitor.running.fill(filledBuilds)
}

async function compare(competitors: readonly Competitor[]): Promise<Report['rows']> {
  const rows: Report['rows'] = []
  for (const measure of measures) {
    const found = new Map(competitors.map((competitor) => [competitor, [] as number[]]))
    for (let round = 0; round < (measure.isOnce === true ? 1 : rounds); round++)
      for (const [competitor, values] of found) values.push(await measure.of(competitor))
    const values = [...found.values()].map(middle)
    const [ours = NaN] = values
    const theirs = values.filter((_, index) => competitors[index]?.peer.isOurs === false)
    const best = measure.isRate === true ? Math.max(...theirs) : Math.min(...theirs)
    const cells = competitors.map(({ peer }, index) => {
      return [`${peer.name} ${peer.version}`, `${shown(values[index] ?? NaN)} ${measure.unit}`] as const
    })
    const ratio = measure.isRate === true ? ours / best : best / ours
    rows.push({
      what: measure.what,
      ...Object.fromEntries(cells),
      ...(theirs.length === 0 ? {} : { 'times better': shown(ratio) }),
    })
    console.log(`${measure.what}: ${cells.map(([, value]) => value).join(', ')}`)
  }
  return rows
}

async function idleCpu({ running: { pids } }: Competitor): Promise<number> {
  const before = sum(pids.map(cpuOfFamily))
  await delay(idleMs)
  return ((sum(pids.map(cpuOfFamily)) - before) * 100) / idleMs
}

async function triggerToCommand({ running, beganFile }: Competitor, share: number): Promise<number> {
  writeFileSync(beganFile, '')
  const sent: number[] = []
  for (let build = 0; build < singleBuilds; build++) {
    sent.push(performance.timeOrigin + performance.now())
    await running.trigger('began')
    // Nothing is asked while the build runs. Random, so that builds do not coincide with anything regular.
    await delay(80 + Math.random() * 40)
    await running.allFinished('began')
  }
  const began = readFileSync(beganFile, 'utf8')
    .trim()
    .split('\n')
    .map((text) => Number(text.replace(',', '.')) * 1000)
  const times = began.map((at, index) => at - (sent[index] ?? NaN)).toSorted((a, b) => a - b)
  if (times.length !== singleBuilds) throw new Error(`${times.length} of ${singleBuilds} commands ran.`)
  return times[Math.floor(times.length * share)] ?? NaN
}

async function buildRate({ running }: Competitor): Promise<number> {
  return rateOf(manyBuilds, async () => {
    await atOnce(4, manyBuilds, () => running.trigger('noop'))
    await running.allFinished('noop')
  })
}

const triggerRate = ({ running }: Competitor, atATime: number): Promise<number> =>
  rateOf(requests, () => atOnce(atATime, requests, () => running.triggerWaiting()))

async function longLog({ running }: Competitor): Promise<number> {
  const startedAt = performance.now()
  await running.trigger('log')
  await running.allFinished('log')
  return (performance.now() - startedAt) / 1000
}

async function listTime({ running }: Competitor): Promise<number> {
  const times: number[] = []
  for (let list = 0; list < lists; list++) {
    const startedAt = performance.now()
    await running.list()
    times.push(performance.now() - startedAt)
  }
  return middle(times)
}

async function rateOf(count: number, work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (count * 1000) / (performance.now() - startedAt)
}

async function atOnce(workers: number, count: number, work: () => Promise<void>): Promise<void> {
  let left = count
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (left-- > 0) await work()
    }),
  )
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-peers-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const shown = (value: number) =>
  value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0)
