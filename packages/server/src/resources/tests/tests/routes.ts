import { Type } from 'typebox'
import type { RequestContext } from '../../../context.ts'
import { ok, type Answer } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { alsoAt, route } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import * as suites from '../suites/queries.ts'
import { presentBuildTest, presentFlakyTest, presentTest } from './present.ts'
import * as ofBuild from './of-build.ts'
import * as tests from './queries.ts'
import { changeLabels } from './change-labels.ts'
import { enableTest, quarantineTest } from './quarantine.ts'
import { readDays, readFilter, readOrder } from './rules.ts'
import {
  BuildTest,
  BuildTestQuery,
  ChangeLabels,
  FindTest,
  FlakyQuery,
  FlakyTest,
  Quarantine,
  Test,
  TestListQuery,
  TestWindow,
} from './schema.ts'

const windowErrors = {
  400: 'The period is unknown, a time is given too, or the times are in the wrong order.',
  422: 'A time is not ISO 8601.',
}

const listTestsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/suites/:suite/tests',
  summary: 'List the tests of a suite that ran in a period, slowest first',
  scope: 'read_suites',
  permission: 'member',
  query: TestListQuery,
  paging: 'pages',
  answers: { 200: Type.Array(Test) },
  errors: windowErrors,
  async handler({ ctx, org, caller, params, query, url }) {
    const days = readDays(query, ctx.now())
    const suite = await suites.getBySlug(ctx.db, org, caller, params.suite)
    const page = readPage(url)
    const chosen = { filter: readFilter(query), order: readOrder(query) }
    const rows = await tests.listOfSuite(ctx.db, org, caller, suite.id, days, chosen, page)
    return pageAnswer(page, rows, (row) => presentTest(ctx.config.url, org.slug, row))
  },
})

const getTestRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/suites/:suite/tests/:test',
  summary: 'Get a test of a suite, with its figures of the last 7 days',
  scope: 'read_suites',
  permission: 'member',
  query: TestWindow,
  answers: { 200: Test },
  errors: windowErrors,
  async handler({ ctx, org, caller, params, query }) {
    const days = readDays(query, ctx.now())
    const suite = await suites.getBySlug(ctx.db, org, caller, params.suite)
    const test = await tests.findById(ctx.db, org, caller, suite.id, params.test, days)
    if (test === undefined) throw notFound('No test found')
    return ok(presentTest(ctx.config.url, org.slug, test))
  },
})

const findTestRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/suites/:suite/tests/find',
  summary: 'Find a test of a suite by its scope and name',
  scope: 'read_suites',
  permission: 'member',
  body: FindTest,
  answers: { 200: Test },
  errors: { 404: 'The suite has no such test.' },
  async handler({ ctx, org, caller, params, body }) {
    const suite = await suites.getBySlug(ctx.db, org, caller, params.suite)
    const wanted = { scope: body.scope ?? '', name: body.name }
    const test = await tests.findByName(ctx.db, org, caller, suite.id, wanted, readDays({}, ctx.now()))
    if (test === undefined) throw notFound('No test found')
    return ok(presentTest(ctx.config.url, org.slug, test))
  },
})

const listMutedTestsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/suites/:suite/tests/muted',
  summary: 'List the muted tests of a suite: their failures do not count',
  scope: 'read_suites',
  permission: 'member',
  answers: { 200: Type.Array(Test) },
  handler: (input) => listQuarantined(input, 'muted'),
})

const listSkippedTestsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/suites/:suite/tests/skipped',
  summary: 'List the skipped tests of a suite: they are not to run',
  scope: 'read_suites',
  permission: 'member',
  answers: { 200: Type.Array(Test) },
  handler: (input) => listQuarantined(input, 'skipped'),
})

const listFlakyTestsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/suites/:suite/flaky-tests',
  summary: 'List the tests of a suite with the label `flaky`; `tests?label=flaky` says more',
  scope: 'read_suites',
  permission: 'member',
  query: FlakyQuery,
  paging: 'pages',
  answers: { 200: Type.Array(FlakyTest) },
  async handler({ ctx, org, caller, params, query, url }) {
    const suite = await suites.getBySlug(ctx.db, org, caller, params.suite)
    const page = readPage(url)
    const days = readDays(query, ctx.now())
    const rows = await tests.listFlaky(
      ctx.db,
      org,
      caller,
      suite.id,
      days,
      query.search?.trim() || null,
      page,
    )
    return pageAnswer(page, rows, (row) => presentFlakyTest(ctx.config.url, org.slug, row))
  },
})

/** Clients take the first answer for the whole list. */
const mostQuarantined = { limit: 2000, offset: 0 }

async function listQuarantined(
  { ctx, org, caller, params }: RequestContext & { params: { suite: string } },
  state: 'muted' | 'skipped',
): Promise<Answer> {
  const suite = await suites.getBySlug(ctx.db, org, caller, params.suite)
  const days = readDays({}, ctx.now())
  const rows = await tests.listQuarantined(ctx.db, org, caller, suite.id, state, days, mostQuarantined)
  return ok(rows.map((row) => presentTest(ctx.config.url, org.slug, row)))
}

const mayNot = 'The caller manages neither the suite nor the pipeline that it belongs to.'

const muteTestRoute = route({
  method: 'PUT',
  url: '/v2/organizations/:org/suites/:suite/tests/:test/mute',
  summary: 'Mute a test: it runs, and its failures do not count',
  scope: 'write_suites',
  permission: 'member',
  body: Quarantine,
  answers: { 200: Test },
  errors: { 403: mayNot, 422: 'The body is not valid, or the end is too late or past.' },
  async handler(input) {
    const { ctx, org, caller, params, body } = input
    await quarantineTest({ ctx, org, caller }, params.suite, params.test, 'muted', body)
    return showTest(input)
  },
})

const skipTestRoute = route({
  method: 'PUT',
  url: '/v2/organizations/:org/suites/:suite/tests/:test/skip',
  summary: 'Skip a test: it is not to run',
  scope: 'write_suites',
  permission: 'member',
  body: Quarantine,
  answers: { 200: Test },
  errors: { 403: mayNot, 422: 'The body is not valid, or the end is too late or past.' },
  async handler(input) {
    const { ctx, org, caller, params, body } = input
    await quarantineTest({ ctx, org, caller }, params.suite, params.test, 'skipped', body)
    return showTest(input)
  },
})

const enableTestRoute = route({
  method: 'PUT',
  url: '/v2/organizations/:org/suites/:suite/tests/:test/enable',
  summary: 'Enable a muted or skipped test',
  scope: 'write_suites',
  permission: 'member',
  answers: { 200: Test },
  errors: { 403: mayNot },
  async handler(input) {
    const { ctx, org, caller, params } = input
    await enableTest({ ctx, org, caller }, params.suite, params.test)
    return showTest(input)
  },
})

const changeLabelsRoute = route({
  method: 'PATCH',
  url: '/v2/organizations/:org/suites/:suite/tests/:test/labels',
  summary: 'Add labels to a test, or remove them',
  scope: 'write_suites',
  permission: 'member',
  body: ChangeLabels,
  answers: { 200: Test },
  errors: { 403: mayNot, 422: 'The body is not valid, or the test would have too many labels.' },
  async handler(input) {
    const { ctx, org, caller, params, body } = input
    await changeLabels({ ctx, org, caller }, params.suite, params.test, body)
    return showTest(input)
  },
})

async function showTest({
  ctx,
  org,
  caller,
  params,
}: RequestContext & { params: { suite: string; test: string } }): Promise<Answer> {
  const suite = await suites.getBySlug(ctx.db, org, caller, params.suite)
  const test = await tests.findById(ctx.db, org, caller, suite.id, params.test, readDays({}, ctx.now()))
  if (test === undefined) throw notFound('No test found')
  return ok(presentTest(ctx.config.url, org.slug, test))
}

const listTestsOfBuildRoute = route({
  method: 'GET',
  url: '/v2/analytics/organizations/:org/builds/:build_uuid/tests',
  summary: 'List the tests that ran in a build, those that failed first',
  scope: 'read_suites',
  permission: 'member',
  query: BuildTestQuery,
  paging: 'pages',
  answers: { 200: Type.Array(BuildTest) },
  errors: { 400: '`result` or `sort_by` is unknown, or too many labels or owners are named.' },
  async handler({ ctx, org, caller, params, query, url }) {
    const buildId = params.build_uuid
    if (!(await ofBuild.isBuildVisible(ctx.db, org, caller, buildId))) throw notFound('No build found')
    const page = readPage(url)
    const withLatestFail = query.include === 'latest_fail'
    const { result, state = null, labels, owners } = query
    const { sort_by: by, order: direction } = query
    const order = by === undefined ? null : readOrder({ sort_by: by, order: direction })
    const filter = { result, state, chosen: readFilter({ labels, owners }), order, withLatestFail }
    const rows = await ofBuild.listOfBuild(ctx.db, org.id, buildId, filter, page)
    return pageAnswer(page, rows, (row) => ({
      ...presentBuildTest(ctx.config.url, org.slug, row),
      ...(withLatestFail ? { latest_fail: row.latest_fail } : {}),
    }))
  },
})

export const testRoutes = [
  listTestsRoute,
  listMutedTestsRoute,
  listSkippedTestsRoute,
  listFlakyTestsRoute,
  getTestRoute,
  findTestRoute,
  muteTestRoute,
  skipTestRoute,
  enableTestRoute,
  changeLabelsRoute,
  listTestsOfBuildRoute,
  alsoAt('/v2/analytics/organizations/:org/suites/:suite/tests', listTestsRoute),
  alsoAt('/v2/analytics/organizations/:org/suites/:suite/tests/muted', listMutedTestsRoute),
  alsoAt('/v2/analytics/organizations/:org/suites/:suite/tests/skipped', listSkippedTestsRoute),
  alsoAt('/v2/analytics/organizations/:org/suites/:suite/flaky-tests', listFlakyTestsRoute),
  alsoAt('/v2/analytics/organizations/:org/suites/:suite/tests/:test', getTestRoute),
  alsoAt('/v2/analytics/organizations/:org/suites/:suite/tests/find', findTestRoute),
  alsoAt('/v2/analytics/organizations/:org/suites/:suite/tests/:test/mute', muteTestRoute),
  alsoAt('/v2/analytics/organizations/:org/suites/:suite/tests/:test/skip', skipTestRoute),
  alsoAt('/v2/analytics/organizations/:org/suites/:suite/tests/:test/enable', enableTestRoute),
  alsoAt('/v2/analytics/organizations/:org/suites/:suite/tests/:test/labels', changeLabelsRoute),
]
