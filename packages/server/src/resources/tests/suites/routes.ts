import { Type } from 'typebox'
import { hasScope } from '../../../auth/caller.ts'
import { created, noContent, ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { alsoAt, route } from '../../../http/route.ts'
import { forbidden } from '../../../lib/errors.ts'
import { IncludeViewer } from '../../schema.ts'
import { createSuite } from './create.ts'
import { deleteSuite } from './delete.ts'
import { listFigures, type FiguresRow } from './figures.ts'
import { presentFigures } from './present-figures.ts'
import { presentSuite, presentViewer } from './present.ts'
import * as suites from './queries.ts'
import {
  CreateSuite,
  IncludeFigures,
  ListedSuite,
  ShowToken,
  Suite,
  SuiteWithToken,
  UpdateSuite,
} from './schema.ts'
import { rotateToken } from './rotate-token.ts'
import { openToken } from './token.ts'
import { updateSuite } from './update.ts'

const listSuitesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/suites',
  summary: 'List test suites, oldest first',
  scope: 'read_suites',
  permission: 'member',
  query: IncludeFigures,
  paging: 'pages',
  answers: { 200: Type.Array(ListedSuite) },
  async handler({ ctx, org, caller, query, url }) {
    const page = readPage(url)
    const rows = await suites.listInOrg(ctx.db, org, caller, page)
    const ids = rows.map(({ id }) => id)
    const figures = query.include_figures
      ? await listFigures(ctx.db, org, caller, ids, ctx.now())
      : new Map<string, FiguresRow>()
    return pageAnswer(page, rows, (row) => ({
      ...presentSuite(ctx.config.url, org.slug, row),
      ...presentFigures(ctx.config.url, org.slug, row.slug, figures.get(row.id)),
    }))
  },
})

const getSuiteRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/suites/:suite',
  summary: 'Get a test suite',
  scope: 'read_suites',
  permission: 'member',
  query: { ...ShowToken, ...IncludeViewer },
  answers: { 200: Suite },
  errors: {
    403: 'With `show_api_token=true`: the caller does not manage the suite, or the scope is missing.',
  },
  async handler({ ctx, org, caller, params, query }) {
    const suite = await suites.getBySlug(ctx.db, org, caller, params.suite)
    const shown = {
      ...presentSuite(ctx.config.url, org.slug, suite),
      ...(query.include_viewer ? presentViewer(suite) : {}),
    }
    if (!query.show_api_token) return ok(shown)
    if (!suite.may_manage || !hasScope(caller, 'write_suites')) throw forbidden()
    return ok({ ...shown, api_token: openToken(ctx.keys, suite) })
  },
})

const createSuiteRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/suites',
  summary: 'Create a test suite',
  scope: 'write_suites',
  permission: 'admin',
  body: CreateSuite,
  answers: { 201: SuiteWithToken },
  errors: { 422: 'The body is not valid, or the name is taken.' },
  async handler({ ctx, org, caller, body }) {
    const { row, token } = await createSuite({ ctx, org, caller }, body)
    return created({ ...presentSuite(ctx.config.url, org.slug, row), api_token: token })
  },
})

const updateSuiteRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/suites/:suite',
  summary: 'Update a test suite; a new name makes a new slug',
  scope: 'write_suites',
  permission: 'member',
  body: UpdateSuite,
  answers: { 200: Suite },
  errors: {
    403: 'The caller is no administrator, and in no team that manages the suite.',
    422: 'The body is not valid, or the name is taken.',
  },
  async handler({ ctx, org, caller, params, body }) {
    const suite = await updateSuite({ ctx, org, caller }, params.suite, body)
    return ok(presentSuite(ctx.config.url, org.slug, suite))
  },
})

const rotateTokenRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/suites/:suite/rotate_token',
  summary: 'Give a test suite a new token; the earlier one stops at once',
  scope: 'write_suites',
  permission: 'member',
  answers: { 200: SuiteWithToken },
  errors: { 403: 'The caller is no administrator, and in no team that manages the suite.' },
  async handler({ ctx, org, caller, params }) {
    const { row, token } = await rotateToken({ ctx, org, caller }, params.suite)
    return ok({ ...presentSuite(ctx.config.url, org.slug, row), api_token: token })
  },
})

const deleteSuiteRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/suites/:suite',
  summary: 'Delete a test suite, with all its runs',
  scope: 'write_suites',
  permission: 'member',
  answers: { 204: null },
  errors: { 403: 'The caller is no administrator, and in no team that manages the suite.' },
  async handler({ ctx, org, caller, params }) {
    await deleteSuite({ ctx, org, caller }, params.suite)
    return noContent()
  },
})

export const suiteRoutes = [
  listSuitesRoute,
  getSuiteRoute,
  createSuiteRoute,
  updateSuiteRoute,
  rotateTokenRoute,
  deleteSuiteRoute,
  alsoAt('/v2/analytics/organizations/:org/suites', listSuitesRoute),
  alsoAt('/v2/analytics/organizations/:org/suites/:suite', getSuiteRoute),
  alsoAt('/v2/analytics/organizations/:org/suites', createSuiteRoute),
  alsoAt('/v2/analytics/organizations/:org/suites/:suite', updateSuiteRoute),
  alsoAt('/v2/analytics/organizations/:org/suites/:suite/rotate_token', rotateTokenRoute),
  alsoAt('/v2/analytics/organizations/:org/suites/:suite', deleteSuiteRoute),
]
