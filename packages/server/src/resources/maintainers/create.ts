import { byCaller, recordAudit } from '../../audit/record.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { Trx } from '../../db/pool.ts'
import { violatedUnique } from '../../db/transaction.ts'
import { validationFailed } from '../../lib/errors.ts'
import { isUuid, newId } from '../../lib/ids.ts'
import * as maintainers from './queries.ts'
import type { CreateMaintainerBody } from './schema.ts'

/** Exactly one of `user` and `team`; an empty string is an absent one. `where` names the place in the body. */
export function readActor(body: CreateMaintainerBody, where = ''): maintainers.Actor {
  const at = where === '' ? '' : `${where} `
  if (body.user && body.team) throw validationFailed(`${at}must name a user or a team, not both`)
  const actor = body.user
    ? { kind: 'user' as const, id: body.user }
    : { kind: 'team' as const, id: body.team ?? '' }
  if (actor.id === '') throw validationFailed(`${at}must name a user or a team`)
  if (!isUuid(actor.id)) throw validationFailed(`${at}${actor.kind} must be a UUID`)
  return actor
}

export async function createMaintainer(
  trx: Trx,
  org: Organization,
  caller: Caller,
  cluster: { id: string; name: string },
  actor: maintainers.Actor,
): Promise<maintainers.MaintainerRow> {
  const name = await maintainers.holdActor(trx, org, caller, actor)
  if (name === null) throw validationFailed(`no ${actor.kind} with the id ${actor.id} in this organization`)
  const row = {
    id: newId(),
    organization_id: org.id,
    cluster_id: cluster.id,
    user_id: actor.kind === 'user' ? actor.id : null,
    team_id: actor.kind === 'team' ? actor.id : null,
  }
  await maintainers.insert(trx, row).catch((error: unknown) => {
    if (violatedUnique(error) === null) throw error
    throw validationFailed(`${name} is already a maintainer of this cluster`)
  })
  await recordAudit(trx, byCaller(caller), {
    organizationId: org.id,
    type: 'CLUSTER_PERMISSION_CREATED',
    subject: { type: 'ClusterPermission', uuid: row.id, name },
    data: { cluster_id: cluster.id, [`${actor.kind}_id`]: actor.id },
  })
  const added = await maintainers.findInCluster(trx, org.id, cluster.id, row.id)
  if (added === undefined) throw new Error('A maintainer vanished in the transaction that made it.')
  return added
}
