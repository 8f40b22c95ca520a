import { Type } from 'typebox'
import type { Caller } from '../../../auth/caller.ts'
import type { Db } from '../../../db/pool.ts'
import { noContent, ok } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import { listOfCaller } from '../organizations/queries.ts'
import { Uuid } from '../../schema.ts'
import * as favorites from './queries.ts'

const listFavoritesRoute = route({
  method: 'GET',
  url: '/v2/user/favorites',
  summary: 'List the ids of the pipelines that the user has marked as favorites, oldest mark first',
  scope: 'read_user',
  permission: 'token',
  answers: { 200: Type.Array(Uuid) },
  async handler({ ctx, caller }) {
    const orgs = await listOfCaller(ctx.db, caller)
    return ok(await favorites.listReadable(ctx.db, orgs, caller))
  },
})

const createFavoriteRoute = route({
  method: 'PUT',
  url: '/v2/user/favorites/:pipeline_uuid',
  summary: 'Mark a pipeline as a favorite',
  scope: 'read_pipelines',
  permission: 'token',
  answers: { 204: null },
  async handler({ ctx, caller, params: { pipeline_uuid: pipelineId } }) {
    const orgId = await getOrganization(ctx.db, caller, pipelineId)
    await favorites.insert(ctx.db, {
      organization_id: orgId,
      user_id: caller.user.id,
      pipeline_id: pipelineId,
    })
    return noContent()
  },
})

const deleteFavoriteRoute = route({
  method: 'DELETE',
  url: '/v2/user/favorites/:pipeline_uuid',
  summary: 'Remove a pipeline from the favorites',
  scope: 'read_pipelines',
  permission: 'token',
  answers: { 204: null },
  async handler({ ctx, caller, params: { pipeline_uuid: pipelineId } }) {
    const orgId = await getOrganization(ctx.db, caller, pipelineId)
    await favorites.deleteOfUser(ctx.db, orgId, caller.user.id, pipelineId)
    return noContent()
  },
})

/** The organization of a pipeline that the caller may read. */
async function getOrganization(db: Db, caller: Caller, pipelineId: string): Promise<string> {
  const orgs = await listOfCaller(db, caller)
  const orgId = await favorites.findOrganization(db, orgs, caller, pipelineId)
  if (orgId === undefined) throw notFound('No pipeline found')
  return orgId
}

export const favoriteRoutes = [listFavoritesRoute, createFavoriteRoute, deleteFavoriteRoute]
