// Builds moved through their states by the conductor, without agents.
import { sql } from 'kysely'
import { act, carryOut } from '../src/conductor/act.ts'
import type { Advanced, UntimedEvent } from '../src/conductor/advance.ts'
import type { BuildRequest } from '../src/conductor/build.ts'
import { createBuild } from '../src/conductor/create-build.ts'
import type { TestApp } from './app.ts'
import type { TestOrganization } from './builders.ts'

export interface TestBuild {
  id: string
  number: number
  organizationId: string
}

export const aBuildRequest = (pipelineId: string, given: Partial<BuildRequest> = {}): BuildRequest => ({
  pipelineId,
  source: 'api',
  creatorId: null,
  author: null,
  commit: 'HEAD',
  commitOrigin: 'own',
  branch: 'main',
  tag: null,
  message: null,
  env: {},
  metaData: {},
  pullRequest: null,
  cleanCheckout: false,
  ignoreBranchFilters: false,
  rebuiltFrom: null,
  triggeredFrom: null,
  dueAt: null,
  ...given,
})

export async function aBuild(
  app: TestApp,
  org: TestOrganization,
  pipeline: { id: string },
  given: Partial<BuildRequest> = {},
): Promise<TestBuild> {
  const created = await createBuild(app.ctx, org.id, aBuildRequest(pipeline.id, given))
  if (!created.ok) throw new Error(`Could not make a build: ${JSON.stringify(created)}`)
  await carryOut(app.ctx, created.followUps)
  return { id: created.buildId, number: created.number, organizationId: org.id }
}

export const applyEvent = (app: TestApp, build: TestBuild, event: UntimedEvent): Promise<Advanced> =>
  act(app.ctx, build.organizationId, build.id, event)

interface TestJob {
  id: string
  name: string
  state: string
}

/** The newest job of every slot, in the build's order; named by its command, label or kind. */
export async function jobsOf(app: TestApp, build: TestBuild): Promise<TestJob[]> {
  const { rows } = await sql<TestJob>`
    select id, coalesce(work ->> 'command', work ->> 'label', work ->> 'pipeline', kind) as name, state from jobs
    where build_id = ${build.id} and retried_in_job_id is null order by position, id`.execute(app.db)
  return rows
}

export async function statesOf(app: TestApp, build: TestBuild): Promise<Record<string, string>> {
  return Object.fromEntries((await jobsOf(app, build)).map(({ name, state }) => [name, state]))
}

export async function buildState(app: TestApp, build: TestBuild): Promise<string> {
  const { state } = await app.db
    .selectFrom('builds')
    .select('state')
    .where('id', '=', build.id)
    .executeTakeFirstOrThrow()
  return state
}

export async function jobNamed(app: TestApp, build: TestBuild, name: string): Promise<string> {
  const job = (await jobsOf(app, build)).find((candidate) => candidate.name === name)
  if (job === undefined) throw new Error(`The build has no job "${name}".`)
  return job.id
}

/** Assigns, accepts, starts and finishes the job. */
export async function runJob(app: TestApp, build: TestBuild, name: string, exitStatus = 0): Promise<void> {
  const jobId = await startJob(app, build, name)
  const ended = await applyEvent(app, build, {
    type: 'finish',
    jobId,
    exitStatus,
    signal: null,
    signalReason: null,
  })
  if (!ended.ok) throw new Error(ended.message)
}

export async function startJob(app: TestApp, build: TestBuild, name: string): Promise<string> {
  const jobId = await jobNamed(app, build, name)
  for (const type of ['assign', 'accept', 'start'] as const) {
    const advanced = await applyEvent(app, build, { type, jobId })
    if (!advanced.ok) throw new Error(advanced.message)
  }
  return jobId
}
