// Builds and their jobs, moved by agents that run nothing.
import type { Json, World } from './world.ts'

export const newPipeline = (world: World, configuration: string): Promise<Json> =>
  world.call('POST', '/pipelines', {
    name: world.unique(),
    repository: 'https://git.example.com/fuzz.git',
    cluster_id: world.id('cluster'),
    configuration,
  })

export const newBuild = (world: World, pipeline: string, more: object = {}): Promise<Json> =>
  world.call('POST', `/pipelines/${pipeline}/builds`, {
    commit: 'HEAD',
    branch: 'main',
    meta_data: { present: 'yes' },
    ...more,
  })

export const jobsOf = (build: Json): Json[] => build.jobs ?? []

interface Run {
  agent: string
  session: string
  /** The job's token. */
  token: string
}

export async function newAgent(world: World): Promise<Omit<Run, 'token'>> {
  const body = { name: world.unique(), meta_data: ['queue=default'], version: '3.137.0' }
  const registered = await world.agent('POST', 'register', world.secret('registration'), body)
  const session = String(registered.access_token)
  await world.agent('POST', 'connect', session)
  return { agent: String(registered.id), session }
}

/** A new agent takes the job and starts it. */
export async function runJob(world: World, job: string): Promise<Run> {
  const agent = await newAgent(world)
  const taken = await world.agent('PUT', `jobs/${job}/acquire`, agent.session)
  const token = String(taken.token)
  await world.agent('PUT', `jobs/${job}/start`, token, {})
  return { ...agent, token }
}

export const finishJob = (world: World, job: string, token: string, status: number): Promise<Json> =>
  world.agent('PUT', `jobs/${job}/finish`, token, { exit_status: String(status) })
