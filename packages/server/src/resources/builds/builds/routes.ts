import { Type } from 'typebox'
import type { Organization } from '../../../auth/caller.ts'
import { ok, okJson } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import type { Context, RequestContext } from '../../../context.ts'
import { findBuild, getBuild } from '../../addresses/builds.ts'
import * as archivedBuilds from '../archives/queries.ts'
import { readBuild } from '../archives/read.ts'
import * as organizations from '../../people/organizations/queries.ts'
import { presentPipeline } from '../../pipelines/pipelines/present.ts'
import * as pipelines from '../../pipelines/pipelines/queries.ts'
import { presentRun } from '../../tests/test_runs/present.ts'
import * as testRuns from '../../tests/test_runs/queries.ts'
import { findBuildCost } from '../../insights/insights/build-cost.ts'
import { countJobStates } from './build-json.ts'
import { cancelBuild } from './cancel.ts'
import { createFromBody, rebuild } from './create.ts'
import { listBuilds } from './list.ts'
import { everything, presentBuild } from './present.ts'
import * as builds from './queries.ts'
import { retryFailedJobs } from './retry-failed-jobs.ts'
import { readJobStates, readRetryStates } from './rules.ts'
import { Build, BuildQuery, CancelBuild, CreateBuild, GetBuildQuery, RetryFailedJobs } from './schema.ts'

const listErrors = {
  400: 'The page lies too deep and no filter narrows the list; or the cursor is invalid.',
  422: 'A filter has a value that does not exist.',
}

const listAllBuildsRoute = route({
  method: 'GET',
  url: '/v2/builds',
  summary: 'List the builds of all organizations the token may access, newest first',
  scope: 'read_builds',
  permission: 'token',
  paging: 'pages',
  query: BuildQuery,
  answers: { 200: Type.Array(Build) },
  errors: listErrors,
  async handler({ ctx, caller, query, url }) {
    const orgs = await organizations.listOfCaller(ctx.db, caller)
    const list = {
      name: `builds of ${caller.user.id}`,
      orgs,
      ranges: (reach: number) => builds.listRanges(ctx.db, orgs, caller, reach),
    }
    return listBuilds(ctx, caller, list, query, url)
  },
})

const listOrganizationBuildsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/builds',
  summary: 'List the builds of an organization, newest first',
  scope: 'read_builds',
  permission: 'member',
  paging: 'pages',
  query: BuildQuery,
  answers: { 200: Type.Array(Build) },
  errors: listErrors,
  async handler({ ctx, org, caller, query, url }) {
    const list = {
      name: `builds ${org.id}`,
      orgs: [org],
      ranges: (reach: number) => builds.listRanges(ctx.db, [org], caller, reach),
    }
    return listBuilds(ctx, caller, list, query, url)
  },
})

const listPipelineBuildsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/builds',
  summary: 'List the builds of a pipeline, newest first',
  scope: 'read_builds',
  permission: 'read_pipeline',
  paging: 'pages',
  query: BuildQuery,
  answers: { 200: Type.Array(Build) },
  errors: listErrors,
  async handler({ ctx, org, caller, pipelineId, query, url }) {
    const range = { kind: 'pipelines', ids: [pipelineId], organizationIds: [org.id] } as const
    const list = { name: `builds ${pipelineId}`, orgs: [org], ranges: async () => [range] }
    return listBuilds(ctx, caller, list, query, url)
  },
})

const getBuildRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build',
  summary: 'Get a build',
  scope: 'read_builds',
  permission: 'read_pipeline',
  query: GetBuildQuery,
  answers: { 200: Build },
  errors: { 422: '`job_states` has a value that does not exist.' },
  async handler({ ctx, org, caller, params, query }) {
    const states = readJobStates(query.job_states)
    const build = await findBuild(ctx.db, org.id, params)
    if (build === undefined) return ok(await getArchived({ ctx, org, caller }, params, { ...query, states }))
    const jobs = { includeRetried: query.include_retried_jobs ?? false, includePaused: true, states }
    const counts = await countJobStates(ctx.db, org.id, build.id, jobs)
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
    const parts = { jobs: query.exclude_jobs ? null : jobs, pipeline: !query.exclude_pipeline }
    const tests = query.include_test_analytics || query.include_test_engine
    const runs = tests ? await listTestRuns(ctx, org, build.id) : []
    const cost = await findBuildCost(ctx.db, org.id, build.id)
    const json = await presentBuild(ctx, org, caller, build, parts, {
      job_state_counts: { total, states: counts },
      ...(cost === undefined ? {} : { cost }),
      ...(query.include_test_analytics ? { test_analytics: { runs } } : {}),
      ...(query.include_test_engine ? { test_engine: { runs } } : {}),
    })
    return okJson(json)
  },
})

const createBuildRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/pipelines/:pipeline/builds',
  summary: 'Create a build',
  scope: 'write_builds',
  permission: 'build_pipeline',
  body: CreateBuild,
  badBody: 'errors',
  answers: { 201: Build },
  errors: {
    422: 'The body or the configuration is not valid, with `errors`; or the message has the reason for refusal.',
  },
  async handler({ ctx, org, caller, pipelineId, params, body }) {
    const pipeline = { id: pipelineId, slug: params.pipeline }
    const build = await createFromBody({ ctx, org, caller }, pipeline, body)
    return { status: 201, json: await presentBuild(ctx, org, caller, build, everything) }
  },
})

const cancelBuildRoute = route({
  method: 'PUT',
  url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/cancel',
  summary: 'Cancel a build',
  scope: 'write_builds',
  permission: 'build_pipeline',
  body: CancelBuild,
  answers: { 200: Build },
  errors: { 422: 'The build has finished or is being canceled; the message has the reason.' },
  async handler({ ctx, org, caller, params, body }) {
    const build = await getBuild(ctx.db, org.id, params)
    await cancelBuild({ ctx, org, caller }, build, body.reason || null)
    return okJson(await presentBuild(ctx, org, caller, build, everything))
  },
})

const rebuildRoute = route({
  method: 'PUT',
  url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/rebuild',
  summary: 'Make a new build of what a build was made of',
  scope: 'write_builds',
  permission: 'build_pipeline',
  answers: { 200: Build },
  errors: {
    422: 'The pipeline is archived, allows no rebuilds, or cannot be built; the message has the reason.',
  },
  async handler({ ctx, org, caller, params }) {
    const original = await getBuild(ctx.db, org.id, params)
    const build = await rebuild({ ctx, org, caller }, original)
    return okJson(await presentBuild(ctx, org, caller, build, everything))
  },
})

const retryFailedJobsRoute = route({
  method: 'PUT',
  url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/retry_failed_jobs',
  summary: 'Retry the failed jobs of a build',
  scope: 'write_builds',
  permission: 'build_pipeline',
  query: { states: Type.Optional(Type.String({ description: 'As in the body.' })) },
  body: RetryFailedJobs,
  answers: { 202: Build },
  errors: { 400: '`states` names one that does not exist.', 422: 'The build was canceled.' },
  async handler({ ctx, org, caller, params, query, body }) {
    const states = readRetryStates(body.states ?? query.states)
    const build = await getBuild(ctx.db, org.id, params)
    const count = await retryFailedJobs({ ctx, org, caller }, build, states)
    const json = await presentBuild(ctx, org, caller, build, everything, { retried_jobs_count: count })
    return { status: 202, json }
  },
})

async function listTestRuns(ctx: Context, org: Pick<Organization, 'id' | 'slug'>, buildId: string) {
  const rows = await testRuns.listOfBuild(ctx.db, org.id, buildId, { limit: 100, offset: 0 })
  return rows.map((row) => presentRun(ctx.config.url, org.slug, row))
}

/** The build as it was, with its pipeline as it is. */
async function getArchived(
  { ctx, org, caller }: RequestContext,
  params: { pipeline: string; build: string },
  query: {
    exclude_jobs?: boolean
    exclude_pipeline?: boolean
    include_retried_jobs?: boolean
    states: readonly string[] | null
  },
): Promise<object> {
  const archived = await archivedBuilds.findInPipeline(ctx.db, org.id, params.pipeline, params.build)
  if (archived === undefined) throw notFound('No build found')
  const build = await readBuild(ctx, archived, {
    withJobs: !query.exclude_jobs,
    includeRetried: query.include_retried_jobs ?? false,
    states: query.states,
  })
  if (query.exclude_pipeline) return build
  const pipeline = await pipelines.getBySlug(ctx.db, org, caller, params.pipeline)
  const keys = { caller, keys: ctx.keys }
  return { ...build, pipeline: await presentPipeline(ctx.config.url, org.slug, pipeline, keys) }
}

export const buildRoutes = [
  listAllBuildsRoute,
  listOrganizationBuildsRoute,
  listPipelineBuildsRoute,
  getBuildRoute,
  createBuildRoute,
  cancelBuildRoute,
  rebuildRoute,
  retryFailedJobsRoute,
]
