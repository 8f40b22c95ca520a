// Builds of one step: what they cost, and how many end in a second.
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

export interface Created {
  number: number
  jobs: Array<{ id: string }>
}

export const createBuild = (api: Api, pipeline: string): Promise<Created> =>
  api('POST', `/pipelines/${pipeline}/builds`, { commit: 'HEAD', branch: 'main', message: 'A build' })

/** Asks the database, because a request would cost the server much more. */
export async function allFinished({ sql }: World, pauseMs = 50): Promise<void> {
  for (;;) {
    const { rows } = await sql.query(`select exists (select from builds where finished_at is null) as runs`)
    if (!(rows[0] as { runs: boolean }).runs) return
    await delay(pauseMs)
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

export function readCpu({ serverPid, databasePid }: World, { pid, isLocal }: Agents) {
  const { own, programs } = cpuOfAgent(pid)
  const server = cpuOfFamily(serverPid) - (isLocal ? cpuOfFamily(pid) : 0)
  return { server, database: cpuOfFamily(databasePid), agent: own, programs }
}

/** The yardstick: milliseconds of CPU of a shell that does nothing. */
export async function costOfShell(count: number): Promise<number> {
  const before = cpuOfAgent(process.pid).programs
  for (let run = 0; run < count; run++) await once(spawn('bash', ['-c', 'true'], { stdio: 'ignore' }), 'exit')
  return (cpuOfAgent(process.pid).programs - before) / count
}
