import { Type } from 'typebox'
import { ok } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import { text } from '../../schema.ts'
import * as suites from '../suites/queries.ts'
import * as tests from '../tests/queries.ts'
import { readDays } from '../tests/rules.ts'
import * as executions from './queries.ts'
import { TestExecution } from './schema.ts'

const mostShown = 50

const listExecutionsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/suites/:suite/tests/:test/executions',
  summary: 'List the last 50 executions of a test, newest first',
  scope: 'read_suites',
  permission: 'member',
  query: { branch: Type.Optional(text('Executions on this branch, among the newest 1,000 of the test.')) },
  answers: { 200: Type.Array(TestExecution) },
  async handler({ ctx, org, caller, params, query }) {
    const suite = await suites.getBySlug(ctx.db, org, caller, params.suite)
    const days = readDays({}, ctx.now())
    const test = await tests.findById(ctx.db, org, caller, suite.id, params.test, days)
    if (test === undefined) throw notFound('No test found')
    const address = { id: test.id, suiteId: suite.id }
    return ok(await executions.listOfTest(ctx.db, org, caller, address, query.branch, mostShown))
  },
})

export const executionRoutes = [listExecutionsRoute]
