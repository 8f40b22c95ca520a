import { Type } from 'typebox'
import { ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { alsoAt, route } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import * as suites from '../suites/queries.ts'
import { presentBuildTest, presentTest } from './present.ts'
import * as tests from './queries.ts'
import { readDays } from './rules.ts'
import { BuildTest, BuildTestQuery, FindTest, Test, TestWindow } from './schema.ts'

const windowErrors = {
  400: 'The period is unknown, a time is given too, or the times are in the wrong order.',
  422: 'A time is not ISO 8601.',
}

const listTestsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/suites/:suite/tests',
  summary: 'List the tests of a suite that ran in the last 7 days, slowest first',
  scope: 'read_suites',
  permission: 'member',
  query: TestWindow,
  paging: 'pages',
  answers: { 200: Type.Array(Test) },
  errors: windowErrors,
  async handler({ ctx, org, caller, params, query, url }) {
    const days = readDays(query, ctx.now())
    const suite = await suites.getBySlug(ctx.db, org, caller, params.suite)
    const page = readPage(url)
    const rows = await tests.listOfSuite(ctx.db, org, caller, suite.id, days, page)
    return pageAnswer(page, rows, (row) => presentTest(ctx.config.url, org.slug, suite.slug, row))
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
    return ok(presentTest(ctx.config.url, org.slug, suite.slug, test))
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
    return ok(presentTest(ctx.config.url, org.slug, suite.slug, test))
  },
})

const listTestsOfBuildRoute = route({
  method: 'GET',
  url: '/v2/analytics/organizations/:org/builds/:build_uuid/tests',
  summary: 'List the tests that ran in a build, those that failed first',
  scope: 'read_suites',
  permission: 'member',
  query: BuildTestQuery,
  paging: 'pages',
  answers: { 200: Type.Array(BuildTest) },
  errors: { 400: '`result` is unknown.' },
  async handler({ ctx, org, caller, params, query, url }) {
    const buildId = params.build_uuid
    if (!(await tests.isBuildVisible(ctx.db, org, caller, buildId))) throw notFound('No build found')
    const page = readPage(url)
    const withLatestFail = query.include === 'latest_fail'
    const filter = { result: query.result, withLatestFail }
    const isNone = query.state !== undefined && query.state !== 'enabled'
    const rows = isNone ? [] : await tests.listOfBuild(ctx.db, org.id, buildId, filter, page)
    return pageAnswer(page, rows, (row) => ({
      ...presentBuildTest(row),
      ...(withLatestFail ? { latest_fail: row.latest_fail } : {}),
    }))
  },
})

export const testRoutes = [
  listTestsRoute,
  getTestRoute,
  findTestRoute,
  listTestsOfBuildRoute,
  alsoAt('/v2/analytics/organizations/:org/suites/:suite/tests', listTestsRoute),
  alsoAt('/v2/analytics/organizations/:org/suites/:suite/tests/:test', getTestRoute),
  alsoAt('/v2/analytics/organizations/:org/suites/:suite/tests/find', findTestRoute),
]
