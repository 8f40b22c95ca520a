// Builds of one step: what they cost, how many end in a second, and where the time from the request to the end goes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { cpuOfAgent, cpuOfFamily } from './cpu.ts'
import type { Agents, Api, World } from './world.ts'

/** bash prints the time without starting a program. */
const configuration = `
env: {BUILDKITE_SKIP_CHECKOUT: "true"}
steps:
  - command: echo "began $$EPOCHREALTIME"
`

export async function createPipeline(api: Api, name: string, steps = configuration): Promise<string> {
  const [cluster] = await api<Array<{ id: string }>>('GET', '/clusters')
  const repository = 'https://git.example.com/bench.git'
  const { slug } = await api<{ slug: string }>('POST', '/pipelines', {
    name,
    repository,
    cluster_id: cluster?.id,
    configuration: steps,
  })
  return slug
}

interface Created {
  number: number
  jobs: Array<{ id: string }>
}

export const createBuild = (api: Api, pipeline: string): Promise<Created> =>
  api('POST', `/pipelines/${pipeline}/builds`, { commit: 'HEAD', branch: 'main', message: 'A build' })

/** Asks the database, because a request would cost the server much more. */
export async function allFinished({ sql }: World): Promise<void> {
  for (;;) {
    const { rows } = await sql.query(`select exists (select from builds where finished_at is null) as runs`)
    if (!(rows[0] as { runs: boolean }).runs) return
    await delay(50)
  }
}

export interface Cost {
  server: number
  database: number
  agent: number
  programs: number
  perSecond: number
}

const requestsAtOnce = 4

/** Milliseconds of CPU per build, while builds are created and run as fast as they can be. */
export async function costOfBuilds(
  world: World,
  agents: Agents,
  pipeline: string,
  count: number,
): Promise<Cost> {
  const before = readCpu(world, agents)
  const startedAt = performance.now()
  let left = count
  await Promise.all(
    Array.from({ length: requestsAtOnce }, async () => {
      while (left-- > 0) await createBuild(world.api, pipeline)
    }),
  )
  await allFinished(world)
  const seconds = (performance.now() - startedAt) / 1000
  const after = readCpu(world, agents)
  const perBuild = (name: keyof typeof before) => (after[name] - before[name]) / count
  return {
    server: perBuild('server'),
    database: perBuild('database'),
    agent: perBuild('agent'),
    programs: perBuild('programs'),
    perSecond: count / seconds,
  }
}

export function readCpu({ serverPid, databasePid }: World, { pid }: Agents) {
  const { own, programs } = cpuOfAgent(pid)
  return { server: cpuOfFamily(serverPid), database: cpuOfFamily(databasePid), agent: own, programs }
}

interface Legs {
  answered: number[]
  runnable: number[]
  started: number[]
  command: number[]
  finished: number[]
}

/** One build after another, on an idle installation. All times are milliseconds since the request. */
export async function legsOfBuilds(world: World, pipeline: string, count: number): Promise<Legs> {
  const legs: Legs = { answered: [], runnable: [], started: [], command: [], finished: [] }
  for (let build = 0; build < count; build++) {
    const sentAt = performance.timeOrigin + performance.now()
    const created = await createBuild(world.api, pipeline)
    legs.answered.push(performance.timeOrigin + performance.now() - sentAt)
    // Nothing is asked while the build runs. Random, so that builds do not coincide with anything regular.
    await delay(80 + Math.random() * 40)
    await allFinished(world)
    const [job] = await world
      .api<{ jobs: JobTimes[] }>('GET', `/pipelines/${pipeline}/builds/${created.number}`)
      .then(({ jobs }) => jobs)
    if (job === undefined) throw new Error('The build has no job.')
    const log = await world.api<{ content: string }>(
      'GET',
      `/pipelines/${pipeline}/builds/${created.number}/jobs/${job.id}/log`,
    )
    const began = /began (\d+)[.,](\d+)/.exec(log.content)
    if (began === null) throw new Error('The command did not print its time.')
    const since = (time: string | null) => (time === null ? NaN : Date.parse(time) - sentAt)
    legs.runnable.push(since(job.runnable_at))
    legs.started.push(since(job.started_at))
    legs.command.push(Number(`${began[1]}.${began[2]}`) * 1000 - sentAt)
    legs.finished.push(since(job.finished_at))
  }
  return legs
}

interface JobTimes {
  id: string
  runnable_at: string | null
  started_at: string | null
  finished_at: string | null
}

/** The yardstick: milliseconds of CPU of a shell that does nothing. */
export async function costOfShell(count: number): Promise<number> {
  const before = cpuOfAgent(process.pid).programs
  for (let run = 0; run < count; run++) await once(spawn('bash', ['-c', 'true'], { stdio: 'ignore' }), 'exit')
  return (cpuOfAgent(process.pid).programs - before) / count
}
