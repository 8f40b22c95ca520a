// Measures an installation that does nothing: without agents, and with agents that wait for work on their streams. The server is
// real; the agents are connections of children/idle-agents.ts.
import { setTimeout as delay } from 'node:timers/promises'
import { cpuOfFamily, memoryMegabytes } from './build-cost/cpu.ts'
import { createAgentToken, startWorld, type World } from './build-cost/world.ts'
import { startChild, type Child } from '../../testbed/dist/children.js'
import { row, type Report } from './harness/report.ts'

const agentCounts = [2000, 5000]
/** Streams are reopened after 50 s. */
const measuredMs = { withoutAgents: 20_000, withAgents: 50_000 }
const warmUpMs = 5000

const aims = { emptyPercent: 0.5, agentsPercent: 25, megabytes: 600 }

export async function benchIdle(): Promise<Report> {
  const rows: Report['rows'] = []
  const targets: Report['targets'] = []
  const aim = (what: string, most: number, measured: number, unit: string) =>
    targets.push({
      what,
      target: `≤ ${most}${unit}`,
      measured: `${measured.toFixed(2)}${unit}`,
      met: measured <= most,
    })
  const world = await startWorld(false)
  await world.sql.query('vacuum analyze')
  await delay(warmUpMs)
  const empty = await loadOf(world, measuredMs.withoutAgents)
  rows.push(rowOf('no agents', empty))
  aim('CPU without agents', aims.emptyPercent, empty.server + empty.database, ' %')

  const token = await createAgentToken(world.api)
  const children: Child[] = []
  let agents = 0
  let load = empty
  for (const count of agentCounts) {
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
  aim(`CPU with ${agents} idle agents`, aims.agentsPercent, load.server + load.database, ' %')
  aim(`memory with ${agents} idle agents`, aims.megabytes, load.megabytes, ' MB')
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

const rowOf = (what: string, { server, database, megabytes }: Load) =>
  row(
    what,
    `${(server + database).toFixed(2)} % of a core`,
    `server ${server.toFixed(2)} % and ${megabytes.toFixed(0)} MB, database ${database.toFixed(2)} %`,
  )
