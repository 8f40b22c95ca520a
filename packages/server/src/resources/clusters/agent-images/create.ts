import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction, violatedUnique } from '../../../db/transaction.ts'
import { conflict, refused, unavailable, validationFailed } from '../../../lib/errors.ts'
import * as clusters from '../clusters/queries.ts'
import * as images from './queries.ts'
import { imageRef, newImageId, refuseDockerfile } from './rules.ts'
import type { CreateAgentImageBody } from './schema.ts'
import { callDriver, notRunning } from '../clusters/hosted-driver.ts'

const mostImages = 100

export async function createAgentImage(
  { ctx, org, caller }: RequestContext,
  clusterId: string,
  { name, dockerfile }: CreateAgentImageBody,
): Promise<images.AgentImageRow> {
  const { hosted } = await clusters.getInOrg(ctx.db, org.id, clusterId)
  if (!hosted) throw refused('Agent images can only be created in a hosted cluster')
  const reason = refuseDockerfile(dockerfile)
  if (reason !== null) throw validationFailed(reason)
  const settings = ctx.config.hosted
  if (settings === null) throw unavailable(notRunning)
  await callDriver(ctx, 'create the image', (driver) => driver.check())
  return inTransaction(ctx.db, async (trx) => {
    const cluster = await clusters.lockInOrg(trx, org.id, clusterId)
    if ((await images.countInCluster(trx, org.id, clusterId)) >= mostImages) {
      throw validationFailed(`a cluster has at most ${mostImages} agent images; delete one first`)
    }
    const id = newImageId()
    const version = await images.nextVersion(trx, clusterId, name)
    const row = {
      id,
      organization_id: org.id,
      cluster_id: clusterId,
      created_by: caller.user.id,
      name,
      version,
      dockerfile,
      base_image: `FROM ${settings.baseImage}`,
      ref: imageRef(settings.registry, clusterId, id, version),
    }
    await images.insert(trx, row).catch((error: unknown) => {
      if (violatedUnique(error) !== 'agent_images_name_key') throw error
      throw conflict(`an agent image named "${name}" already exists in this cluster`)
    })
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'AGENT_IMAGE_CREATED',
      subject: { type: 'Cluster', uuid: clusterId, name: cluster.name },
      data: { agent_image_id: id, name, version, dockerfile, base_image: row.base_image },
    })
    return images.getInCluster(trx, org.id, clusterId, id)
  })
}
