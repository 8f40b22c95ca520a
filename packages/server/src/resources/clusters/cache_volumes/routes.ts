import { Type } from 'typebox'
import type { Context } from '../../../context.ts'
import { noContent, ok } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import { HostedRefused, HostedUnavailable, type HostedDriver } from '../../../hosted/driver.ts'
import { badRequest, notFound, unavailable } from '../../../lib/errors.ts'
import * as clusters from '../clusters/queries.ts'
import { deleteTag } from './delete.ts'
import { presentVolume } from './present.ts'
import * as volumes from './queries.ts'
import { CacheVolume, DeleteCacheVolume, DocumentedDeleteCacheVolume } from './schema.ts'

const listCacheVolumesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters/:cluster/cache_volumes',
  summary: 'List the latest detached cache volume of each tag',
  scope: 'read_clusters',
  permission: 'manage_cluster',
  answers: { 200: Type.Array(CacheVolume) },
  errors: { 503: 'The volumes could not be loaded; asking again is safe.' },
  async handler({ ctx, org, params }) {
    const cluster = await clusters.getInOrg(ctx.db, org.id, params.cluster)
    if (!cluster.hosted) return ok([])
    const rows = await volumes.listNewest(ctx.db, org.id, cluster.id)
    const held = await withDriver(ctx, 'Could not load cache volumes', (driver) => driver.listVolumes())
    const snapshots = new Set(held.filter(({ hasSnapshot }) => hasSnapshot).map(({ id }) => id))
    return ok(rows.filter(({ id }) => snapshots.has(id)).map(presentVolume))
  },
})

const deleteCacheVolumeRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/clusters/:cluster/cache_volumes',
  summary: 'Delete the cache volumes of a tag',
  scope: 'write_clusters',
  permission: 'manage_cluster',
  body: DeleteCacheVolume,
  documentedBody: DocumentedDeleteCacheVolume,
  badBody: 400,
  callsOut: true,
  answers: { 204: null },
  errors: {
    400: 'The tag is missing, empty or not a string.',
    404: 'No volume has the tag, or the cluster has no hosted cache volumes.',
    503: 'The volumes could not be deleted; asking again is safe.',
  },
  async handler({ ctx, org, caller, params, body }) {
    const { tag } = body
    if (typeof tag !== 'string' || tag === '') {
      throw badRequest('`tag` must be a non-empty string')
    }
    const cluster = await clusters.getInOrg(ctx.db, org.id, params.cluster)
    // Spec, Delete cache volume: 404 also when the cluster is not hosted.
    if (!cluster.hosted) throw notFound('This cluster has no hosted cache volumes')
    await withDriver(ctx, 'Could not delete cache volume', (driver) =>
      deleteTag(ctx, driver, org, caller, cluster, tag),
    )
    return noContent()
  },
})

async function withDriver<T>(
  { hosted }: Context,
  whatFailed: string,
  work: (driver: HostedDriver) => Promise<T>,
): Promise<T> {
  if (hosted === null) throw unavailable(`${whatFailed}: the hosted-agent service is not running`)
  try {
    return await work(hosted)
  } catch (error) {
    if (!(error instanceof HostedUnavailable || error instanceof HostedRefused)) throw error
    throw unavailable(`${whatFailed}: ${error.message}`, error)
  }
}

export const cacheVolumeRoutes = [listCacheVolumesRoute, deleteCacheVolumeRoute]
