import type { Env } from '@millrace/engine/environment.ts'
import { Type } from 'typebox'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { environmentOf } from '../../../conductor/environment.ts'
import type { Context } from '../../../context.ts'
import { ok, type Answer } from '../../../http/answer.ts'
import { cursorAnswer, readCursor } from '../../../http/cursors.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { badRequest, refused } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/ids.ts'
import { withoutUserinfo } from '../../../lib/userinfo.ts'
import { getBuild } from '../../addresses/builds.ts'
import { IncludeViewer } from '../../schema.ts'
import { getBuildableJob, getVisibleJob, type JobParams } from '../../addresses/jobs.ts'
import { cancelJob, reprioritizeJob, retryJob, unblockJob } from './update.ts'
import { envText, presentViewer } from './present.ts'
import * as jobs from './queries.ts'
import { Job, JobState } from '../../job/schema.ts'
import {
  JobEnv,
  JobPage,
  DocumentedReprioritizeJob,
  ReprioritizeJob,
  UnblockJob,
  Waiting,
  type UnblockBody,
} from './schema.ts'
import { explainWaiting } from './waiting.ts'

interface Asked {
  ctx: Context
  org: Organization
  caller: Caller
  params: JobParams
}

const listJobsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs',
  summary: 'List the jobs of a build, in the order of its steps',
  scope: 'read_builds',
  permission: 'read_pipeline',
  query: {
    state: Type.Optional(
      Type.Array(JobState, {
        description:
          'Any of these. A running job that promised a hard failure counts as `failed`, not `running`.',
      }),
    ),
    include_retried_jobs: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether to list jobs that were retried.' }),
    ),
    step_key: Type.Optional(Type.String({ description: 'Only jobs of the step with this key.' })),
    group_key: Type.Optional(Type.String({ description: 'Only jobs of the group with this key.' })),
  },
  paging: 'cursor',
  answers: { 200: JobPage },
  errors: {
    400: 'A state is unknown, both cursors are given, one is invalid, or `per_page` is out of range.',
  },
  async handler({ ctx, org, params, query, url }) {
    const build = await getBuild(ctx.db, org.id, params)
    const request = readCursor(url, `jobs ${build.id}`, ctx.keys)
    const filter = {
      states: query.state ?? [],
      withRetried: query.include_retried_jobs ?? true,
      stepKey: query.step_key,
      groupKey: query.group_key,
    }
    const rows = await jobs.listInBuild(ctx.db, ctx.config.url, org.id, build.id, { filter, page: request })
    return cursorAnswer(
      request,
      rows,
      ({ position: at, id }) => ({ at, id }),
      ({ json }): unknown => JSON.parse(json),
    )
  },
})

const mostListed = 10_000

const listOrgJobsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/jobs',
  summary: 'List jobs that the caller may see, those of the newest build first',
  scope: 'read_builds',
  permission: 'member',
  query: {
    state: Type.Optional(
      Type.Array(JobState, {
        description: `Any of these. Finished jobs are searched in the newest ${jobs.mostSearchedBuilds} builds.`,
      }),
    ),
    type: Type.Optional(Type.Array(Type.Union(Job.properties.type.anyOf), { description: 'Any of these.' })),
    cluster_queue_id: Type.Optional(Type.Array(Type.String(), { description: 'On any of these queues.' })),
    agent_query_rules: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Those with all of these rules, such as `os=linux` or `queue=default`.',
      }),
    ),
  },
  paging: 'pages',
  answers: { 200: Type.Array(Job) },
  errors: { 400: `A value is unknown, or the page begins after ${mostListed} jobs.` },
  async handler({ ctx, org, caller, query, url }) {
    const page = readPage(url)
    if (page.offset >= mostListed) {
      throw badRequest(
        `Jobs after the first ${mostListed} are not listed. Narrow the list with state or queue.`,
      )
    }
    const queueIds = query.cluster_queue_id ?? []
    if (!queueIds.every(isUuid)) return pageAnswer(page, [], () => null)
    const filter = {
      states: query.state ?? [],
      kinds: query.type ?? [],
      queueIds,
      agentQueryRules: query.agent_query_rules ?? [],
    }
    const rows = await jobs.listInOrg(ctx.db, org, caller, filter, {
      url: ctx.config.url,
      limit: page.limit,
      offset: page.offset,
    })
    return pageAnswer(page, rows, (json): unknown => JSON.parse(json))
  },
})

const showJob = {
  method: 'GET',
  summary: 'Get a job',
  scope: 'read_builds',
  query: IncludeViewer,
  answers: { 200: Job },
  handler: answerJob,
} as const

const retry = {
  method: 'PUT',
  summary: 'Retry a job that has failed; answers with the new job',
  scope: 'write_builds',
  answers: { 200: Job },
  errors: {
    400: 'The job is not one that failed, timed out, expired or was canceled.',
    422: 'The build or the build that triggered it was canceled, the job was retried before, or its step forbids it.',
  },
  handler: answerRetry,
} as const

const reprioritize = {
  method: 'PUT',
  summary: 'Change the priority of a job that no agent has taken yet',
  scope: 'write_builds',
  body: ReprioritizeJob,
  documentedBody: DocumentedReprioritizeJob,
  badBody: 400,
  answers: { 200: Job },
  errors: {
    400: 'The priority is not an integer.',
    422: 'An agent has taken the job, it has ended, or it is no command job.',
  },
  handler: answerReprioritize,
} as const

// Only the teams that a block step names may unblock it, whatever their other permissions. So the route demands reading
// only, and `unblockJob` checks the rest.
const unblock = {
  method: 'PUT',
  summary: 'Unblock a block or input job',
  scope: 'write_builds',
  body: UnblockJob,
  answers: { 200: Job },
  errors: {
    400: 'The job is neither a block nor an input job.',
    403: 'The caller is in none of the teams the step names, may not build the pipeline, or is no administrator and names another unblocker.',
    422: 'The build was canceled, the job is not to be unblocked now, the unblocker is no member, or an answer is wrong.',
  },
  handler: answerUnblock,
} as const

const cancel = {
  method: 'PUT',
  summary: 'Cancel a job, or ask the agent that runs it to stop',
  scope: 'write_builds',
  answers: { 200: Job },
  errors: { 422: 'The job has ended, or is being stopped already.' },
  handler: answerCancel,
} as const

const waiting = {
  method: 'GET',
  summary: 'Say why a job has not started',
  scope: 'read_builds',
  answers: { 200: Waiting },
  handler: answerWaiting,
} as const

const env = {
  method: 'GET',
  summary: 'Get the environment variables of a job; as lines of text where the request accepts text/plain',
  scope: 'read_job_env',
  answers: { 200: Type.Union([JobEnv, Type.String({ description: '`NAME=value` lines.' })]) },
  handler: answerEnv,
} as const

const envLines = {
  method: 'GET',
  summary: 'Get the environment variables of a job as lines of text',
  scope: 'read_job_env',
  answers: { 200: Type.String({ contentMediaType: 'text/plain' }) },
  handler: answerEnvLines,
} as const

/** Public clients offer it for hosted agents. The answer says why it is not to be had, as for a job without such an agent. */
const noSession = (protocol: 'SSH' | 'VNC') =>
  ({
    method: 'POST',
    summary: `Say why a job has no ${protocol} session: Millrace opens none`,
    scope: 'write_builds',
    permission: 'member',
    answers: {},
    errors: {
      403: 'The caller may not build the pipeline.',
      422: `Always: there are no ${protocol} sessions.`,
    },
    async handler({ ctx, org, caller, params }: Asked): Promise<Answer> {
      await getBuildableJob(ctx.db, org, caller, params)
      throw refused(
        `Millrace opens no ${protocol} sessions with the machines of jobs. Sign in to the agent’s machine instead.`,
      )
    },
  }) as const

async function answerJob({
  ctx,
  org,
  caller,
  params,
  query,
}: Asked & { query: { include_viewer?: boolean } }): Promise<Answer> {
  const job = await getVisibleJob(ctx.db, org, caller, params)
  const json = await jobs.getShown(ctx.db, ctx.config.url, org.id, job.id)
  if (!query.include_viewer) return ok(json)
  const teams = job.kind === 'manual' ? await jobs.findAllowedTeams(ctx.db, org, job.id, caller) : null
  return ok({ ...json, ...presentViewer(job, teams) })
}

async function answerRetry({ ctx, org, caller, params }: Asked): Promise<Answer> {
  const job = await getBuildableJob(ctx.db, org, caller, params)
  return shown(ctx, org, await retryJob({ ctx, org, caller }, job))
}

async function answerReprioritize({
  ctx,
  org,
  caller,
  params,
  body: { priority },
}: Asked & { body: { priority?: unknown } }): Promise<Answer> {
  const job = await getBuildableJob(ctx.db, org, caller, params)
  if (!isPriority(priority)) throw badRequest('Priority must be an integer')
  await reprioritizeJob({ ctx, org, caller }, job, priority)
  return shown(ctx, org, job.id)
}

const isPriority = (value: unknown): value is number =>
  Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31

async function answerUnblock({
  ctx,
  org,
  caller,
  params,
  body,
}: Asked & { body: UnblockBody }): Promise<Answer> {
  const job = await getVisibleJob(ctx.db, org, caller, params)
  await unblockJob({ ctx, org, caller }, job, body)
  return shown(ctx, org, job.id)
}

async function answerCancel({ ctx, org, caller, params }: Asked): Promise<Answer> {
  const job = await getBuildableJob(ctx.db, org, caller, params)
  await cancelJob({ ctx, org, caller }, job)
  return shown(ctx, org, job.id)
}

async function answerWaiting({ ctx, org, caller, params }: Asked): Promise<Answer> {
  return ok(await explainWaiting({ ctx, org, caller }, await getVisibleJob(ctx.db, org, caller, params)))
}

async function answerEnv(asked: Asked & { headers: { accept?: string | undefined } }): Promise<Answer> {
  if (asked.headers.accept?.includes('text/plain')) return answerEnvLines(asked)
  return { ...ok({ env: await getEnv(asked) }), headers: { Vary: 'Accept' } }
}

async function answerEnvLines(asked: Asked): Promise<Answer> {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', Vary: 'Accept' }
  return { status: 200, body: envText(await getEnv(asked)), headers }
}

async function getEnv({ ctx, org, caller, params }: Asked): Promise<Env> {
  const job = await getVisibleJob(ctx.db, org, caller, params)
  const env = await environmentOf(ctx, org.id, job.id)
  const repository = env['BUILDKITE_REPO']
  return repository === undefined ? env : { ...env, BUILDKITE_REPO: withoutUserinfo(repository) }
}

const shown = async (ctx: Context, org: Organization, jobId: string): Promise<Answer> =>
  ok(await jobs.getShown(ctx.db, ctx.config.url, org.id, jobId))

export const jobRoutes = [
  listOrgJobsRoute,
  listJobsRoute,
  route({ ...showJob, permission: 'member', url: '/v2/organizations/:org/jobs/:job' }),
  route({
    ...showJob,
    permission: 'read_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job',
  }),
  route({ ...retry, permission: 'member', url: '/v2/organizations/:org/jobs/:job/retry' }),
  route({
    ...retry,
    permission: 'build_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/retry',
  }),
  route({ ...reprioritize, permission: 'member', url: '/v2/organizations/:org/jobs/:job/reprioritize' }),
  route({
    ...reprioritize,
    permission: 'build_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/reprioritize',
  }),
  route({ ...unblock, permission: 'member', url: '/v2/organizations/:org/jobs/:job/unblock' }),
  route({
    ...unblock,
    permission: 'read_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/unblock',
  }),
  route({ ...cancel, permission: 'member', url: '/v2/organizations/:org/jobs/:job/cancel' }),
  route({
    ...cancel,
    permission: 'build_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/cancel',
  }),
  route({ ...waiting, permission: 'member', url: '/v2/organizations/:org/jobs/:job/waiting' }),
  route({
    ...waiting,
    permission: 'read_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/waiting',
  }),
  route({ ...noSession('SSH'), url: '/v2/organizations/:org/jobs/:job/ssh-session' }),
  route({ ...noSession('VNC'), url: '/v2/organizations/:org/jobs/:job/vnc-session' }),
  route({ ...env, permission: 'member', url: '/v2/organizations/:org/jobs/:job/env' }),
  route({
    ...env,
    permission: 'read_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/env',
  }),
  route({ ...envLines, permission: 'member', url: '/v2/organizations/:org/jobs/:job/env.txt' }),
  route({
    ...envLines,
    permission: 'read_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/env.txt',
  }),
]
