// The protocol of the public test engine client: https://github.com/buildkite/test-engine-client.
import { Type } from 'typebox'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Context } from '../../../context.ts'
import { ok, okJson } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import { badRequest, notFound } from '../../../lib/errors.ts'
import type { WorkOwner } from '../../../lib/threads.ts'
import * as suites from '../suites/queries.ts'
import { createPlan } from './create.ts'
import * as plans from './queries.ts'
import { readInThread } from './read.ts'
import { CreateTestPlan, FilesToFilter, FilteredFiles, TestPlan, TestPlanMetadata } from './schema.ts'
import { filterFiles, listMuted } from './times.ts'

const bodyLimitBytes = 10 * 1024 * 1024

const ownerOf = (org: Organization, caller: Caller, until: AbortSignal): WorkOwner => ({
  kind: 'upload',
  organizationId: org.id,
  sender: caller.user.id,
  until,
})

/** The plan is that of the first request, but a test is muted or no longer muted at once. */
async function answer(ctx: Context, org: Organization, suiteId: string, plan: string) {
  const muted = await listMuted(ctx.db, org.id, suiteId, ctx.now())
  return okJson(`{"muted_tests":${muted},${plan.slice(1)}`)
}

const getPlanRoute = route({
  method: 'GET',
  url: '/v2/analytics/organizations/:org/suites/:suite/test_plan',
  summary: 'Get how the tests of a suite are divided among parallel jobs',
  scope: 'read_suites',
  permission: 'member',
  query: {
    identifier: Type.Optional(
      Type.String({ description: 'The identifier with which the plan was made; required.' }),
    ),
    job_retry_count: Type.Optional(
      Type.String({ description: 'Kept for clients that send it: a retried job gets the same plan.' }),
    ),
  },
  answers: { 200: TestPlan },
  errors: {
    400: '`identifier` is missing.',
    404: 'There is no such plan, or it is older than 7 days.',
  },
  async handler({ ctx, org, caller, params, query }) {
    const suite = await suites.getBySlug(ctx.db, org, caller, params.suite)
    if (query.identifier === undefined) throw badRequest('identifier is required')
    const plan = await plans.find(ctx.db, org.id, suite.id, query.identifier)
    if (plan === undefined) throw notFound('No test plan found')
    return answer(ctx, org, suite.id, plan)
  },
})

const createPlanRoute = route({
  method: 'POST',
  url: '/v2/analytics/organizations/:org/suites/:suite/test_plan',
  summary:
    'Divide tests among parallel jobs by their expected time; a plan that is there is answered as it is',
  scope: 'read_suites',
  permission: 'member',
  documentedBody: CreateTestPlan,
  readsBytes: true,
  callsOut: true,
  bodyLimitBytes,
  answers: { 200: TestPlan },
  async handler({ ctx, org, caller, params, rawBody, gone }) {
    const suite = await suites.getBySlug(ctx.db, org, caller, params.suite)
    const plan = await createPlan({ ctx, org, caller }, suite.id, rawBody, ownerOf(org, caller, gone()))
    return answer(ctx, org, suite.id, plan)
  },
})

const filterTestsRoute = route({
  method: 'POST',
  url: '/v2/analytics/organizations/:org/suites/:suite/test_plan/filter_tests',
  summary: 'List the files that should be divided into their tests: slow ones, and those with skipped tests',
  scope: 'read_suites',
  permission: 'member',
  documentedBody: FilesToFilter,
  readsBytes: true,
  callsOut: true,
  bodyLimitBytes,
  answers: { 200: FilteredFiles },
  async handler({ ctx, org, caller, params, rawBody, gone }) {
    const suite = await suites.getBySlug(ctx.db, org, caller, params.suite)
    const { paths, ...parts } = await readInThread(ownerOf(org, caller, gone()), 'readFilter', rawBody)
    const of = { org, caller, suiteId: suite.id, now: ctx.now() }
    return okJson(await filterFiles(ctx.db, of, paths, parts))
  },
})

const takeMetadataRoute = route({
  method: 'POST',
  url: '/v2/analytics/organizations/:org/suites/:suite/test_plan_metadata',
  summary: 'Take what a client says of its run; nothing is kept',
  scope: 'read_suites',
  permission: 'member',
  body: TestPlanMetadata,
  answers: { 200: Type.Object({}) },
  async handler({ ctx, org, caller, params }) {
    await suites.getBySlug(ctx.db, org, caller, params.suite)
    return ok({})
  },
})

export const testPlanRoutes = [getPlanRoute, createPlanRoute, filterTestsRoute, takeMetadataRoute]
