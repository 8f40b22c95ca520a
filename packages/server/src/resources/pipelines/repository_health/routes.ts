import { ok } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import { refused } from '../../../lib/errors.ts'
import * as pipelines from '../pipelines/queries.ts'
import { presentHealth } from './present.ts'
import * as health from './queries.ts'
import { RepositoryHealth } from './schema.ts'

const getRepositoryHealthRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/repository_health',
  summary:
    'Get whether the pushes of a repository are heard of: the last delivery, and what no delivery told',
  scope: 'read_pipelines',
  permission: 'edit_pipeline',
  answers: { 200: RepositoryHealth },
  async handler({ ctx, org, caller, params }) {
    const pipeline = await pipelines.getBySlug(ctx.db, org, caller, params.pipeline)
    return ok(presentHealth(await health.getHealth(ctx.db, org.id, pipeline.id, ctx.now())))
  },
})

const reconcileRepositoryRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/pipelines/:pipeline/repository_health/reconcile',
  summary: 'Ask the repository at once for pushes that no delivery told of',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  answers: { 200: RepositoryHealth },
  errors: { 422: 'No delivery has come yet, and the pipeline is not polled.' },
  async handler({ ctx, org, caller, params }) {
    const pipeline = await pipelines.getBySlug(ctx.db, org, caller, params.pipeline)
    const isAsked = await health.askNow(ctx.db, org.id, pipeline.id, ctx.now().toISOString())
    if (!isAsked) throw refused('The repository is asked from the first delivery on; none has come yet.')
    return ok(presentHealth(await health.getHealth(ctx.db, org.id, pipeline.id, ctx.now())))
  },
})

export const repositoryHealthRoutes = [getRepositoryHealthRoute, reconcileRepositoryRoute]
