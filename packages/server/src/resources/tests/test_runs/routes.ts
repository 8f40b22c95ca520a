import { Type } from 'typebox'
import { ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { alsoAt, route } from '../../../http/route.ts'
import { text, uuid } from '../../schema.ts'
import { getBuild } from '../../addresses/builds.ts'
import * as suites from '../suites/queries.ts'
import { presentFailedExecution, presentRun } from './present.ts'
import * as runs from './queries.ts'
import { FailedExecution, TestRun } from './schema.ts'

const listRunsOfBuildRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/test_runs',
  summary: 'List the test runs of a build, oldest first',
  scope: 'read_builds',
  permission: 'read_pipeline',
  paging: 'pages',
  answers: { 200: Type.Array(TestRun) },
  async handler({ ctx, org, params, url }) {
    const build = await getBuild(ctx.db, org.id, params)
    const page = readPage(url)
    const rows = await runs.listOfBuild(ctx.db, org.id, build.id, page)
    return pageAnswer(page, rows, (row) => presentRun(ctx.config.url, org.slug, row))
  },
})

const listRunsOfSuiteRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/suites/:suite/test_runs',
  summary: 'List the runs of a test suite, newest first',
  scope: 'read_suites',
  permission: 'member',
  query: {
    build_id: Type.Optional(uuid('Runs of the build with this UUID.')),
    branch: Type.Optional(text('Runs on this branch.')),
  },
  paging: 'pages',
  answers: { 200: Type.Array(TestRun) },
  async handler({ ctx, org, caller, params, query, url }) {
    const suite = await suites.getBySlug(ctx.db, org, caller, params.suite)
    const page = readPage(url)
    const { build_id: buildId, branch } = query
    const rows = await runs.listOfSuite(ctx.db, org, caller, suite.id, { buildId, branch }, page)
    return pageAnswer(page, rows, (row) => presentRun(ctx.config.url, org.slug, row))
  },
})

const getRunRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/suites/:suite/test_runs/:test_run',
  summary: 'Get a run of a test suite, with what its failures say',
  scope: 'read_suites',
  permission: 'member',
  answers: { 200: TestRun },
  async handler({ ctx, org, caller, params }) {
    const run = await runs.getInSuite(ctx.db, org, caller, params.suite, params.test_run)
    return ok(presentRun(ctx.config.url, org.slug, run))
  },
})

const listFailedExecutionsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/suites/:suite/test_runs/:test_run/failed_executions',
  summary: 'List the tests that failed in a run, in the order in which they came in',
  scope: 'read_suites',
  permission: 'member',
  query: {
    include_failure_expanded: Type.Optional(
      Type.Boolean({ description: 'Add `failure_expanded`: all that the failures say.' }),
    ),
  },
  paging: 'pages',
  answers: { 200: Type.Array(FailedExecution) },
  async handler({ ctx, org, caller, params, query, url }) {
    const run = await runs.getInSuite(ctx.db, org, caller, params.suite, params.test_run)
    const page = readPage(url)
    const rows = await runs.listFailedExecutions(ctx.db, org.id, run.id, page)
    const isExpanded = query.include_failure_expanded === true
    return pageAnswer(page, rows, (row) => ({
      ...presentFailedExecution(ctx.config.url, org.slug, run, row),
      ...(isExpanded ? { failure_expanded: row.failure_expanded } : {}),
    }))
  },
})

export const testRunRoutes = [
  listRunsOfBuildRoute,
  listRunsOfSuiteRoute,
  getRunRoute,
  listFailedExecutionsRoute,
  alsoAt('/v2/analytics/organizations/:org/suites/:suite/runs', listRunsOfSuiteRoute),
  alsoAt('/v2/analytics/organizations/:org/suites/:suite/runs/:test_run', getRunRoute),
  alsoAt(
    '/v2/analytics/organizations/:org/suites/:suite/runs/:test_run/failed_executions',
    listFailedExecutionsRoute,
  ),
]
