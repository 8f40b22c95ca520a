// Measures the cost of a build: CPU of the server, the database, the agent and its programs, statements and rows, and the time of
// each leg. The server, the agents and the commands are real, and builds are created over HTTP. An installation with the local
// agent of `millrace up`, as `npm start` leaves it, takes turns with one that has a separate agent.
import { allFinished, costOfBuilds, costOfShell, createPipeline, type Cost } from './build-cost/builds.ts'
import { legsOfBuilds, noLegs, paces, type Legs } from './build-cost/legs.ts'
import { costOfLog, logMegabytes } from './build-cost/log.ts'
import { costOfStatements } from './build-cost/statements.ts'
import { startWorld, type Agents, type World } from './build-cost/world.ts'
import { middle } from './harness/load.ts'
import { row, type Report } from './harness/report.ts'

const warmUp = 100
const builds = 100
const rounds = 3
const singleBuilds = 60
/** The installations take turns, because the speed of a machine changes. */
const legRounds = 5
const agentCount = 1

const aims = { ratio: 15, postMs: 5, commandMs: 10, logSeconds: 3, localMs: 10, localRatio: 1.5 }

interface Installation {
  title: 'separate agent' | 'local agent'
  world: World
  agents: Agents
  pipeline: string
}

type Measured = Omit<Report, 'name'>

export async function benchBuildCost(): Promise<Report> {
  const report: Measured = { rows: [], targets: [] }
  const installations = [await startSeparate(), await startLocal()] as const
  for (const { world, agents, pipeline } of installations) {
    await costOfBuilds(world, agents, pipeline, warmUp)
    await world.sql.query('vacuum analyze')
  }
  await addCosts(installations, report)
  await addLegs(installations, report)
  for (const installation of installations) await addLog(installation, report)
  for (const { world, agents } of installations) {
    await agents.stop()
    await world.stop()
  }
  await addStatements(report)
  return { name: 'build-cost', ...report }
}

async function startSeparate(countsStatements = false): Promise<Installation> {
  const world = await startWorld(countsStatements)
  const pipeline = await createPipeline(world.api, 'cost')
  return { title: 'separate agent', world, pipeline, agents: await world.startAgents(agentCount) }
}

async function startLocal(): Promise<Installation> {
  const world = await startWorld(false, { MILLRACE_AGENTS: String(agentCount) })
  const pipeline = await createPipeline(world.api, 'cost')
  return { title: 'local agent', world, pipeline, agents: world.localAgents() }
}

type Both = readonly [separate: Installation, local: Installation]

async function addCosts(installations: Both, { rows, targets }: Measured): Promise<void> {
  const costs = new Map<Installation, Cost[]>(installations.map((one) => [one, []]))
  const shells: number[] = []
  for (let round = 0; round < rounds; round++) {
    for (const [{ world, agents, pipeline }, found] of costs)
      found.push(await costOfBuilds(world, agents, pipeline, builds))
    shells.push(await costOfShell(builds))
  }
  const totals: number[][] = []
  for (const [{ title }, found] of costs) {
    const typical = found.toSorted((a, b) => sumOf(a) - sumOf(b))[Math.floor(rounds / 2)]
    if (typical === undefined) throw new Error('No round was measured.')
    const ratios = found.map((cost, round) => sumOf(cost) / (shells[round] ?? NaN))
    totals.push(found.map(sumOf))
    rows.push(
      row(
        `${title}: CPU per build`,
        `${ms(sumOf(typical))} ms`,
        `server ${ms(typical.server)}, database ${ms(typical.database)}, agent ${ms(typical.agent)}, programs ${ms(typical.programs)}`,
      ),
      row(`${title}: the same, in shells that do nothing`, ms(middle(ratios)), ratios.map(ms).join(' ')),
      row(`${title}: builds a second`, `${ms(middle(found.map(({ perSecond }) => perSecond)))}/s`),
    )
    if (title === 'separate agent')
      targets.push(aim('CPU of a build ÷ CPU of `bash -c true`', aims.ratio, middle(ratios)))
  }
  const [separate = [], local = []] = totals
  const ratios = local.map((total, round) => total / (separate[round] ?? NaN))
  rows.push(row('CPU of a build, local ÷ separate', middle(ratios).toFixed(2), ratios.map(ms).join(' ')))
  targets.push(aim('CPU of a build, local ÷ separate', aims.localRatio, middle(ratios)))
}

async function addLegs(installations: Both, { rows, targets }: Measured): Promise<void> {
  for (const pace of paces) {
    const found = new Map<Installation, Legs>(installations.map((one) => [one, noLegs()]))
    for (let round = 0; round <= legRounds; round++)
      for (const [{ world, pipeline }, legs] of found)
        // The first round only warms up.
        await legsOfBuilds(world, pipeline, singleBuilds / legRounds, pace, round === 0 ? noLegs() : legs)
    const commands: number[] = []
    for (const [{ title }, legs] of found) {
      for (const [leg, times] of Object.entries(legs) as Array<[keyof typeof legs, number[]]>)
        rows.push(
          row(
            `${title}, ${pace.title}: request to ${leg}`,
            `p50 ${ms(share(times, 0.5))} ms`,
            `p95 ${ms(share(times, 0.95))} ms`,
          ),
        )
      commands.push(middle(legs.command))
      if (title !== 'separate agent' || !pace.hasPause) continue
      targets.push(
        aim('POST builds, idle, p50', aims.postMs, middle(legs.answered), ' ms'),
        aim('trigger to command, p50', aims.commandMs, middle(legs.command), ' ms'),
      )
    }
    const [separate = NaN, local = NaN] = commands
    targets.push(
      aim(`trigger to command ${pace.title}, p50, local - separate`, aims.localMs, local - separate, ' ms'),
    )
  }
}

async function addLog({ title, world, agents }: Installation, { rows, targets }: Measured): Promise<void> {
  const log = await costOfLog(world, agents)
  const seconds = (value: number) => `${value.toFixed(1)} s`
  rows.push(
    row(
      `${title}: a job that prints ${logMegabytes} MB`,
      seconds(log.seconds),
      `CPU: server ${seconds(log.server)}, database ${seconds(log.database)}, agent ${seconds(log.agent)}`,
    ),
  )
  targets.push(
    aim(`${title}: ${logMegabytes} MB of log, until the job is finished`, aims.logSeconds, log.seconds, ' s'),
  )
}

async function addStatements({ rows }: Measured): Promise<void> {
  const { world, agents, pipeline } = await startSeparate(true)
  await costOfBuilds(world, agents, pipeline, warmUp)
  await allFinished(world)
  // Without statistics PostgreSQL finds a build by its organization instead of its id.
  await world.sql.query('vacuum analyze')
  const { perBuild, top } = await costOfStatements(world, builds, () =>
    costOfBuilds(world, agents, pipeline, builds),
  )
  rows.push(
    row('statements per build', ms(perBuild.statements), `${ms(perBuild.transactions)} transactions`),
    row('rows written per build', ms(perBuild.rows), `${ms(perBuild.walKilobytes)} kB of WAL`),
    ...top
      .slice(0, process.env['BENCH_STATEMENTS'] === undefined ? 5 : 60)
      .map(({ text, calls, ms: cost }) =>
        row(
          `  ${text.replaceAll(/\s+/g, ' ').slice(0, 70)}`,
          `${cost.toFixed(2)} ms`,
          `${calls.toFixed(2)} calls`,
        ),
      ),
  )
  await agents.stop()
  await world.stop()
}

function aim(what: string, most: number, measured: number, unit = ''): Report['targets'][number] {
  return {
    what,
    target: `≤ ${most}${unit}`,
    measured: `${measured.toFixed(1)}${unit}`,
    met: measured <= most,
  }
}

function share(times: readonly number[], part: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * part)] ?? NaN
}

const sumOf = ({ server, database, agent, programs }: Cost) => server + database + agent + programs
const ms = (value: number) => value.toFixed(1)
