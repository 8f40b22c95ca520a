import { Type } from 'typebox'
import { hasFeature, type Organization } from '../../../auth/caller.ts'

import type { Context } from '../../../context.ts'
import { linkHeader } from '../../../http/links.ts'
import { pageLinks, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { insightsCsv } from './csv.ts'
import { windowOf } from './periods.ts'
import * as insights from './queries.ts'
import { InsightQuery, Insights, type InsightQueryValues } from './schema.ts'

const getInsightsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/insights',
  summary: 'Get how long jobs waited and ran, how often they failed and what they cost, in groups',
  scope: 'read_builds',
  permission: 'member',
  query: InsightQuery,
  paging: 'pages',
  answers: { 200: Insights },
  async handler({ ctx, org, caller, query, url }) {
    const page = readPage(url)
    const { question, period, sort } = read(ctx, org, query)
    const { groupBy, window } = question
    const total = await insights.findTotals(ctx.db, org, caller, question)
    const groups = await insights.listGroups(ctx.db, org, caller, question, { sort, ...page })
    return {
      status: 200,
      body: {
        group_by: groupBy,
        period,
        from: window.from.toISOString(),
        to: window.to.toISOString(),
        unit_seconds: window.unitMs / 1000,
        currency: await insights.findCurrency(ctx.db, org.id),
        total,
        groups: groups.slice(0, page.perPage),
      },
      headers: linkHeader(pageLinks(page, groups.length > page.perPage)),
    }
  },
})

const mostExported = 5000

const exportInsightsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/insights.csv',
  summary: `Get the highest ${mostExported.toLocaleString('en')} groups as CSV`,
  scope: 'read_builds',
  permission: 'member',
  query: InsightQuery,
  answers: { 200: Type.String({ contentMediaType: 'text/csv' }) },
  async handler({ ctx, org, caller, query }) {
    const { question, period, sort } = read(ctx, org, query)
    const page = { sort, limit: mostExported, offset: 0 }
    const groups = await insights.listGroups(ctx.db, org, caller, question, page)
    return {
      status: 200,
      body: insightsCsv(groups, await insights.findCurrency(ctx.db, org.id)),
      headers: {
        'Content-Type': 'text/csv; charset=utf-8',
        'Content-Disposition': `attachment; filename="insights-${org.slug}-${question.groupBy}-${period}.csv"`,
      },
    }
  },
})

function read(ctx: Context, org: Organization, query: InsightQueryValues) {
  const { group_by: groupBy = 'pipeline', period = '24h', sort = 'cost', from, pipeline, queue } = query
  const window = windowOf(period, ctx.now(), from === undefined ? undefined : new Date(from))
  const viewsTeams = org.role === 'admin' || hasFeature(org, 'members_view_teams')
  return { question: { groupBy, window, pipelines: pipeline, queueId: queue, viewsTeams }, period, sort }
}

export const insightRoutes = [getInsightsRoute, exportInsightsRoute]
