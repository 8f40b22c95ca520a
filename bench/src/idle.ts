// Measures an installation that does nothing: without agents, with one agent, and with many agents that wait for work on their
// streams. The server and the one agent are real; the many are connections of children/idle-agents.ts. With one agent it also
// counts statements and wake-ups by source.
import { setTimeout as delay } from 'node:timers/promises'
import { cpuOfFamily, memoryMegabytes } from './build-cost/cpu.ts'
import { createAgentToken, startWorld, type World } from './build-cost/world.ts'
import { countStatements, countWakeUps, ratesOf, type Counts } from './idle/sources.ts'
import { startChild, type Child } from '../../testbed/dist/children.js'
import { row, type Report } from './harness/report.ts'

const agentCounts = [2000, 5000]
/** Streams are reopened after 50 s. */
const measuredMs = { withoutAgents: 30_000, withAgents: 60_000 }
/** A server works at its usual pace for some seconds after the last request. */
const warmUpMs = 15_000
/** Of each kind. */
const mostSources = 12

const aims = { emptyPercent: 0.5, oneAgentPercent: 0.5, agentsPercent: 25, megabytes: 600 }

/** `most`: measures no larger number of agents. */
export async function benchIdle(most = Infinity): Promise<Report> {
  const rows: Report['rows'] = []
  const targets: Report['targets'] = []
  const aim = (what: string, most: number, measured: number, unit: string) =>
    targets.push({
      what,
      target: `≤ ${most}${unit}`,
      measured: `${measured.toFixed(2)}${unit}`,
      met: measured <= most,
    })
  const world = await startWorld(true)
  await world.sql.query('vacuum analyze')
  await delay(warmUpMs)
  const empty = await loadOf(world, measuredMs.withoutAgents)
  rows.push(rowOf('no agents', empty))
  aim('CPU without agents', aims.emptyPercent, empty.server + empty.database, ' %')

  const agent = await world.startAgents(1)
  await delay(warmUpMs)
  const { load: one, sources } = await withSources(world, () => loadOf(world, measuredMs.withAgents))
  rows.push(rowOf('one agent that waits', one), ...sources)
  aim('CPU with one agent that waits', aims.oneAgentPercent, one.server + one.database, ' %')
  await agent.stop()

  const token = await createAgentToken(world.api)
  const children: Child[] = []
  let agents = 0
  let load = empty
  for (const count of agentCounts.filter((each) => each <= most)) {
    const env = { BENCH_URL: world.url, BENCH_TOKEN: token, BENCH_AGENTS: String(count - agents) }
    children.push((await startChild(new URL('./children/idle-agents.js', import.meta.url), env)).child)
    agents = count
    await delay(warmUpMs)
    load = await loadOf(world, measuredMs.withAgents)
    rows.push(rowOf(`${count} idle agents`, load))
    for (const child of children) {
      const failed = await child.ask<number>('failed')
      if (failed > 0) throw new Error(`${failed} heartbeats had no answer.`)
    }
  }
  if (agents > 0) {
    aim(`CPU with ${agents} idle agents`, aims.agentsPercent, load.server + load.database, ' %')
    aim(`memory with ${agents} idle agents`, aims.megabytes, load.megabytes, ' MB')
  }
  for (const child of children) await child.stop()
  await world.stop()
  return { name: 'idle', rows, targets }
}

interface Load {
  /** Percent of a core. */
  server: number
  database: number
  /** The server's memory. */
  megabytes: number
}

async function loadOf({ serverPid, databasePid }: World, ms: number): Promise<Load> {
  const read = () => ({ server: cpuOfFamily(serverPid), database: cpuOfFamily(databasePid) })
  const before = read()
  await delay(ms)
  const after = read()
  return {
    server: ((after.server - before.server) * 100) / ms,
    database: ((after.database - before.database) * 100) / ms,
    megabytes: memoryMegabytes(serverPid),
  }
}

/** Also returns rows with what the database and the server did meanwhile. */
async function withSources(
  world: World,
  run: () => Promise<Load>,
): Promise<{ load: Load; sources: Report['rows'] }> {
  const read = async () => ({
    at: performance.now(),
    server: countWakeUps(world.serverPid),
    database: countWakeUps(world.databasePid),
    statements: await countStatements(world),
  })
  const before = await read()
  const load = await run()
  const after = await read()
  const rows = (what: string, from: Counts, to: Counts) => {
    const rates = ratesOf(from, to, (after.at - before.at) / 1000)
    const all = rates.reduce((sum, [, rate]) => sum + rate, 0)
    const shown = rates.slice(0, mostSources)
    return [
      row(what, `${all.toFixed(2)} a second`),
      ...shown.map(([source, rate]) => row('', rate.toFixed(2), source.slice(0, 100))),
    ]
  }
  const sources = [
    ...rows('wake-ups of the server', before.server, after.server),
    ...rows('wake-ups of the database', before.database, after.database),
    ...rows('statements', before.statements, after.statements),
  ]
  return { load, sources }
}

const rowOf = (what: string, { server, database, megabytes }: Load) =>
  row(
    what,
    `${(server + database).toFixed(2)} % of a core`,
    `server ${server.toFixed(2)} % and ${megabytes.toFixed(0)} MB, database ${database.toFixed(2)} %`,
  )
