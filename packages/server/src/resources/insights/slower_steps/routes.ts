import { Type } from 'typebox'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { listSlower } from './queries.ts'
import { SlowerStep } from './schema.ts'

const listSlowerStepsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/insights/slower_steps',
  summary:
    'List the steps that took longer than usual in the last 7 days, those that cost the most time first',
  scope: 'read_builds',
  permission: 'member',
  paging: 'pages',
  answers: { 200: Type.Array(SlowerStep) },
  async handler({ ctx, org, caller, url }) {
    const page = readPage(url)
    return pageAnswer(page, await listSlower(ctx.db, org, caller, ctx.now(), page), (row) => row)
  },
})

export const slowerStepRoutes = [listSlowerStepsRoute]
