import { Type } from 'typebox'
import { ok } from '../../http/answer.ts'
import { uuid } from '../../http/params.ts'
import { route } from '../../http/route.ts'
import { badRequest, notFound, unavailable } from '../../lib/errors.ts'
import * as clusters from '../clusters/queries.ts'
import { CacheVolume, DeleteCacheVolume } from './schema.ts'

const listCacheVolumes = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters/:cluster/cache_volumes',
  summary: 'List the latest detached cache volume of each tag',
  scope: 'read_clusters',
  permission: 'manage_cluster',
  params: { cluster: uuid('cluster') },
  answers: { 200: Type.Array(CacheVolume) },
  errors: { 503: 'The volumes could not be loaded; asking again is safe.' },
  async handler({ ctx, org, params }) {
    const cluster = await clusters.findInOrg(ctx.db, org.id, params.cluster)
    if (cluster === undefined) throw notFound('No cluster found')
    if (!cluster.hosted) return ok([])
    throw unavailable('Could not load cache volumes: the hosted-agent service is not running')
  },
})

const removeCacheVolume = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/clusters/:cluster/cache_volumes',
  summary: 'Delete the cache volumes of a tag',
  scope: 'write_clusters',
  permission: 'manage_cluster',
  params: { cluster: uuid('cluster') },
  body: DeleteCacheVolume,
  badBody: 400,
  answers: { 204: null },
  errors: {
    400: 'The tag is missing, empty or not a string.',
    404: 'No volume has the tag, or the cluster has no hosted cache volumes.',
    503: 'The volumes could not be deleted; asking again is safe.',
  },
  async handler({ ctx, org, params, body }) {
    if (typeof body.tag !== 'string' || body.tag === '') {
      throw badRequest('`tag` must be a non-empty string')
    }
    const cluster = await clusters.findInOrg(ctx.db, org.id, params.cluster)
    if (cluster === undefined) throw notFound('No cluster found')
    // Spec, Delete cache volume: 404 also when the cluster is not hosted.
    if (!cluster.hosted) throw notFound('This cluster has no hosted cache volumes')
    throw unavailable('Could not delete cache volume: the hosted-agent service is not running')
  },
})

export const cacheVolumeRoutes = [listCacheVolumes, removeCacheVolume]
