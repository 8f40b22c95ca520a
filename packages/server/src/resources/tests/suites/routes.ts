import { Type } from 'typebox'
import { created, noContent, ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { alsoAt, route } from '../../../http/route.ts'
import { createSuite } from './create.ts'
import { deleteSuite } from './delete.ts'
import { presentSuite } from './present.ts'
import * as suites from './queries.ts'
import { CreatedSuite, CreateSuite, Suite } from './schema.ts'

const listSuitesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/suites',
  summary: 'List test suites, oldest first',
  scope: 'read_suites',
  permission: 'member',
  paging: 'pages',
  answers: { 200: Type.Array(Suite) },
  async handler({ ctx, org, caller, url }) {
    const page = readPage(url)
    const rows = await suites.listInOrg(ctx.db, org, caller, page)
    return pageAnswer(page, rows, (row) => presentSuite(ctx.config.url, org.slug, row))
  },
})

const getSuiteRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/suites/:suite',
  summary: 'Get a test suite',
  scope: 'read_suites',
  permission: 'member',
  answers: { 200: Suite },
  async handler({ ctx, org, caller, params }) {
    const suite = await suites.getBySlug(ctx.db, org, caller, params.suite)
    return ok(presentSuite(ctx.config.url, org.slug, suite))
  },
})

const createSuiteRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/suites',
  summary: 'Create a test suite',
  scope: 'write_suites',
  permission: 'admin',
  body: CreateSuite,
  answers: { 201: CreatedSuite },
  errors: { 422: 'The body is not valid, or the name is taken.' },
  async handler({ ctx, org, caller, body }) {
    const { row, token } = await createSuite({ ctx, org, caller }, body)
    return created({ ...presentSuite(ctx.config.url, org.slug, row), api_token: token })
  },
})

const deleteSuiteRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/suites/:suite',
  summary: 'Delete a test suite, with all its runs',
  scope: 'write_suites',
  permission: 'admin',
  answers: { 204: null },
  async handler({ ctx, org, caller, params }) {
    await deleteSuite({ ctx, org, caller }, params.suite)
    return noContent()
  },
})

export const suiteRoutes = [
  listSuitesRoute,
  getSuiteRoute,
  createSuiteRoute,
  deleteSuiteRoute,
  alsoAt('/v2/analytics/organizations/:org/suites', listSuitesRoute),
  alsoAt('/v2/analytics/organizations/:org/suites/:suite', getSuiteRoute),
  alsoAt('/v2/analytics/organizations/:org/suites', createSuiteRoute),
  alsoAt('/v2/analytics/organizations/:org/suites/:suite', deleteSuiteRoute),
]
