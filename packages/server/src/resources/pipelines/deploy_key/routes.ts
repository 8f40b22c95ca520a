import { created, noContent, ok } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import * as pipelines from '../pipelines/queries.ts'
import { createDeployKey } from './create.ts'
import { deleteDeployKey } from './delete.ts'
import { presentDeployKey } from './present.ts'
import * as deployKeys from './queries.ts'
import { DeployKey } from './schema.ts'

const getDeployKeyRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/deploy_key',
  summary: 'Get the public half of the key that reads the repository of a pipeline',
  scope: 'read_pipelines',
  permission: 'edit_pipeline',
  answers: { 200: DeployKey },
  async handler({ ctx, org, caller, params }) {
    const pipeline = await pipelines.getBySlug(ctx.db, org, caller, params.pipeline)
    return ok(presentDeployKey(ctx.config.url, await deployKeys.getOfPipeline(ctx.db, org.id, pipeline.id)))
  },
})

const createDeployKeyRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/pipelines/:pipeline/deploy_key',
  summary: 'Make a key that reads the repository of a pipeline over ssh; an earlier one is replaced',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  answers: { 201: DeployKey },
  errors: { 422: 'The repository has no address of ssh.' },
  async handler({ ctx, org, caller, params }) {
    const pipeline = await pipelines.getBySlug(ctx.db, org, caller, params.pipeline)
    await createDeployKey({ ctx, org, caller }, pipeline)
    const key = await deployKeys.getOfPipeline(ctx.db, org.id, pipeline.id)
    return created(presentDeployKey(ctx.config.url, key))
  },
})

const deleteDeployKeyRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/pipelines/:pipeline/deploy_key',
  summary: 'Delete the key that reads the repository of a pipeline',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  answers: { 204: null },
  async handler({ ctx, org, caller, params }) {
    const pipeline = await pipelines.getBySlug(ctx.db, org, caller, params.pipeline)
    await deleteDeployKey({ ctx, org, caller }, pipeline)
    return noContent()
  },
})

export const deployKeyRoutes = [getDeployKeyRoute, createDeployKeyRoute, deleteDeployKeyRoute]
