// Measures the cost of a build: CPU of the server, the database, the agent and its programs, statements and rows, and the time of
// each leg. The server, the runner and the commands are real, and builds are created over HTTP.
import {
  allFinished,
  costOfBuilds,
  costOfShell,
  createPipeline,
  legsOfBuilds,
  type Cost,
} from './build-cost/builds.ts'
import { costOfLog, logMegabytes } from './build-cost/log.ts'
import { costOfStatements } from './build-cost/statements.ts'
import { startWorld } from './build-cost/world.ts'
import { middle } from './harness/load.ts'
import { row, type Report } from './harness/report.ts'

const warmUp = 200
const builds = 200
const rounds = 3
const singleBuilds = 100
const agentCount = 2

const aims = { ratio: 15, postMs: 5, commandMs: 10, logSeconds: 3 }

export async function benchBuildCost(): Promise<Report> {
  const rows: Report['rows'] = []
  const targets: Report['targets'] = []
  const aim = (what: string, most: number, measured: number, unit = '') =>
    targets.push({
      what,
      target: `≤ ${most}${unit}`,
      measured: `${measured.toFixed(1)}${unit}`,
      met: measured <= most,
    })

  const world = await startWorld(false)
  const pipeline = await createPipeline(world.api, 'cost')
  const agents = await world.startAgents(agentCount)
  await costOfBuilds(world, agents, pipeline, warmUp)
  await world.sql.query('vacuum analyze')
  const costs: Cost[] = []
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) {
    const cost = await costOfBuilds(world, agents, pipeline, builds)
    costs.push(cost)
    ratios.push(sumOf(cost) / (await costOfShell(builds)))
  }
  const typical = costs.toSorted((a, b) => sumOf(a) - sumOf(b))[Math.floor(rounds / 2)]
  if (typical === undefined) throw new Error('No round was measured.')
  const ms = (value: number) => value.toFixed(1)
  rows.push(
    row(
      'CPU per build',
      `${ms(sumOf(typical))} ms`,
      `server ${ms(typical.server)}, database ${ms(typical.database)}, agent ${ms(typical.agent)}, programs ${ms(typical.programs)}`,
    ),
    row('the same, in shells that do nothing', ms(middle(ratios)), ratios.map(ms).join(' ')),
    row(`builds a second, ${agentCount} agents`, `${ms(middle(costs.map(({ perSecond }) => perSecond)))}/s`),
  )
  aim('CPU of a build ÷ CPU of `bash -c true`', aims.ratio, middle(ratios))
  await agents.stop()

  const one = await world.startAgents(1)
  await legsOfBuilds(world, pipeline, 20)
  const legs = await legsOfBuilds(world, pipeline, singleBuilds)
  for (const [leg, times] of Object.entries(legs) as Array<[keyof typeof legs, number[]]>) {
    const sorted = times.toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? NaN
    rows.push(row(`request to ${leg}`, `p50 ${ms(at(0.5))} ms`, `p95 ${ms(at(0.95))} ms`))
  }
  aim('POST builds, idle, p50', aims.postMs, middle(legs.answered), ' ms')
  aim('trigger to command, p50', aims.commandMs, middle(legs.command), ' ms')
  const log = await costOfLog(world, one)
  const seconds = (value: number) => `${value.toFixed(1)} s`
  rows.push(
    row(
      `a job that prints ${logMegabytes} MB`,
      seconds(log.seconds),
      `CPU: server ${seconds(log.server)}, database ${seconds(log.database)}, agent ${seconds(log.agent)}`,
    ),
  )
  aim(`${logMegabytes} MB of log, until the job is finished`, aims.logSeconds, log.seconds, ' s')
  await one.stop()
  await world.stop()

  const counted = await startWorld(true)
  const countedPipeline = await createPipeline(counted.api, 'cost')
  const countedAgents = await counted.startAgents(agentCount)
  await costOfBuilds(counted, countedAgents, countedPipeline, warmUp)
  await allFinished(counted)
  // Without statistics PostgreSQL finds a build by its organization instead of its id.
  await counted.sql.query('vacuum analyze')
  const { perBuild, top } = await costOfStatements(counted, builds, () =>
    costOfBuilds(counted, countedAgents, countedPipeline, builds),
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
  await countedAgents.stop()
  await counted.stop()
  return { name: 'build-cost', rows, targets }
}

const sumOf = ({ server, database, agent, programs }: Cost) => server + database + agent + programs
