// Adds maintainers to a cluster: when it is created, and later.
import { sql } from 'kysely'
import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { teamIsVisible } from '../../../auth/permissions.ts'
import type { Trx } from '../../../db/pool.ts'
import { violatedUnique } from '../../../db/transaction.ts'
import { validationFailed } from '../../../lib/errors.ts'
import { isUuid, newId } from '../../../lib/ids.ts'

interface Actor {
  kind: 'user' | 'team'
  id: string
}

/** A body names exactly one of `user` and `team`; an empty string counts as absent. `where` is its place in the request. */
export function readActor(body: { user?: string; team?: string }, where = ''): Actor {
  const at = where === '' ? '' : `${where} `
  if (body.user && body.team) throw validationFailed(`${at}must name a user or a team, not both`)
  const kind = body.user ? 'user' : 'team'
  const id = body[kind] ?? ''
  if (id === '') throw validationFailed(`${at}must name a user or a team`)
  if (!isUuid(id)) throw validationFailed(`${at}${kind} must be a UUID`)
  return { kind, id }
}

/** Returns the id of the new row. */
export async function insertMaintainer(
  trx: Trx,
  org: Organization,
  caller: Caller,
  clusterId: string,
  actor: Actor,
): Promise<string> {
  const name = await holdActor(trx, org, caller, actor)
  if (name === null) throw validationFailed(`no ${actor.kind} with the id ${actor.id} in this organization`)
  const id = newId()
  await trx
    .insertInto('cluster_maintainers')
    .values({ id, organization_id: org.id, cluster_id: clusterId, [`${actor.kind}_id`]: actor.id })
    .execute()
    .catch((error: unknown) => {
      if (violatedUnique(error) === null) throw error
      throw validationFailed(`${name} is already a maintainer of this cluster`)
    })
  await recordAudit(trx, byCaller(caller), {
    organizationId: org.id,
    type: 'CLUSTER_PERMISSION_CREATED',
    subject: { type: 'ClusterPermission', uuid: id, name },
    data: { cluster_id: clusterId, [`${actor.kind}_id`]: actor.id },
  })
  return id
}

/**
 * The name of a member, or of a team that the caller may see; null when there is none. No other transaction deletes
 * either until this one ends.
 */
async function holdActor(trx: Trx, org: Organization, caller: Caller, actor: Actor): Promise<string | null> {
  const { rows } =
    actor.kind === 'user'
      ? await sql<{ name: string }>`
          select u.name from organization_members m join users u on u.id = m.user_id
          where m.organization_id = ${org.id} and m.user_id = ${actor.id} for key share of m`.execute(trx)
      : await sql<{ name: string }>`
          select t.name from teams t
          where t.organization_id = ${org.id} and t.id = ${actor.id} and ${teamIsVisible(org, caller)}
          for key share of t`.execute(trx)
  return rows[0]?.name ?? null
}
