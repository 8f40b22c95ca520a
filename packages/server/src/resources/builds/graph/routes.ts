import { okJson } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import { findGraph } from './queries.ts'
import { Graph } from './schema.ts'

const getGraphRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/graph',
  summary: 'Get the steps of a build, what they wait for, and all its jobs in short form',
  scope: 'read_builds',
  permission: 'read_pipeline',
  answers: { 200: Graph },
  async handler({ ctx, org, params }) {
    const graph = await findGraph(ctx.db, org.id, params.pipeline, params.build)
    if (graph === undefined) throw notFound('No build found')
    return okJson(graph)
  },
})

export const graphRoutes = [getGraphRoute]
