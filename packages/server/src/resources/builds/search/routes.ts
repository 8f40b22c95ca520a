import { Type } from 'typebox'
import { hasScope } from '../../../auth/caller.ts'
import { ok } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import { badRequest } from '../../../lib/errors.ts'
import { presentHit } from './present.ts'
import { search } from './queries.ts'
import { readWanted } from './rules.ts'
import { SearchHit, SearchQuery } from './schema.ts'

const searchRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/search',
  summary: 'Find pipelines, builds, agents, clusters and queues that the caller may see, best first',
  scope: 'read_organizations',
  permission: 'member',
  query: SearchQuery,
  answers: { 200: Type.Array(SearchHit, { description: 'At most 20, and 10 of a type.' }) },
  errors: { 400: '`q` is missing, or is shorter than 2 or longer than 200 characters.' },
  async handler({ ctx, org, caller, query }) {
    if (query.q === undefined) throw badRequest('Query parameter q is missing.')
    const wanted = readWanted(query.q)
    if (wanted === null) return ok([])
    const rows = await search(ctx.db, org, caller, wanted, {
      pipelines: hasScope(caller, 'read_pipelines'),
      builds: hasScope(caller, 'read_builds'),
      agents: hasScope(caller, 'read_agents'),
      clusters: hasScope(caller, 'read_clusters'),
    })
    return ok(rows.map((row) => presentHit(ctx.config.url, row)))
  },
})

export const searchRoutes = [searchRoute]
