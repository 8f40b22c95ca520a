import { sql, type RawBuilder } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { teamIsVisible } from '../../../auth/permissions.ts'
import { visiblePipelines } from '../../../auth/pipeline-access.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import type { Position } from '../../../http/cursors.ts'
import { notFound } from '../../../lib/errors.ts'
import type { BuildStateName, ProviderId, ScopeName } from '../../../notifications/names.ts'
import type { Settings } from '../../../notifications/provider.ts'
import { userJson, type UserRow } from '../../people/user/queries.ts'
import type { ServiceState } from './schema.ts'

export interface ServiceRow {
  id: string
  organization_id: string
  provider: ProviderId
  /** Another name of the provider, if the service was created with it. */
  provider_name: string | null
  description: string
  scope: ScopeName
  /** In the order given. */
  scope_uuids: string[]
  branch_configuration: string
  build_states: BuildStateName[]
  settings: Settings
  secrets_sealed: Buffer | null
  secrets_key_id: string | null
  is_connected: boolean
  disabled_at: string | null
  broken_at: string | null
  broken_reason: string | null
  created_at: string
  created_by: UserRow | null
}

const select = sql`
  select s.id, s.organization_id, s.provider, s.provider_name, s.description, s.scope, s.branch_configuration, s.build_states, s.settings,
    s.secrets_sealed, s.secrets_key_id, s.is_connected, s.disabled_at, s.broken_at, s.broken_reason, s.created_at,
    ${userJson('creator')} as created_by,
    array(select coalesce(t.pipeline_id, t.team_id, t.cluster_id) from notification_service_targets t
      where t.service_id = s.id order by t.position) as scope_uuids
  from notification_services s left join users creator on creator.id = s.created_by`

const inState: Readonly<Record<ServiceState, RawBuilder<unknown>>> = {
  enabled: sql`and s.disabled_at is null and s.broken_at is null`,
  disabled: sql`and s.disabled_at is not null`,
  broken: sql`and s.disabled_at is null and s.broken_at is not null`,
}

/** Oldest first; with `before` in reverse order, so that the services next to that position come first. */
export async function listInOrg(
  db: Db,
  orgId: string,
  state: ServiceState | undefined,
  { after, before, limit }: { after: Position | null; before: Position | null; limit: number },
): Promise<ServiceRow[]> {
  const wanted = state === undefined ? sql`` : inState[state]
  const behind = after ? sql`and (s.created_at, s.id) > (${after.at}, ${after.id})` : sql``
  const ahead = before ? sql`and (s.created_at, s.id) < (${before.at}, ${before.id})` : sql``
  const order = before ? sql`s.created_at desc, s.id desc` : sql`s.created_at, s.id`
  const { rows } = await sql<ServiceRow>`
    ${select} where s.organization_id = ${orgId} ${wanted} ${behind} ${ahead} order by ${order} limit ${limit}`.execute(
    db,
  )
  return rows
}

interface LastDeliveryRow {
  service_id: string
  id: string
  event: string
  state: 'pending' | 'delivered' | 'dead' | 'discarded'
  created_at: string
  finished_at: string | null
}

/** The newest delivery of each service, by the service's id. */
export async function findLastDeliveries(
  db: Db,
  orgId: string,
  serviceIds: readonly string[],
): Promise<Map<string, Omit<LastDeliveryRow, 'service_id'>>> {
  const { rows } = await sql<LastDeliveryRow>`
    select d.service_id, d.id, m.event, d.state, d.created_at, d.finished_at
    from unnest(${serviceIds}::uuid[]) as s (id) cross join lateral (
      select * from notification_deliveries d where d.service_id = s.id and d.organization_id = ${orgId}
      order by d.created_at desc, d.id desc limit 1
    ) d join notification_messages m on m.id = d.message_id`.execute(db)
  return new Map(rows.map(({ service_id: service, ...delivery }) => [service, delivery]))
}

export async function findInOrg(db: Db, orgId: string, id: string): Promise<ServiceRow | undefined> {
  const { rows } = await sql<ServiceRow>`
    ${select} where s.organization_id = ${orgId} and s.id = ${id}`.execute(db)
  return rows[0]
}

export async function getInOrg(db: Db, orgId: string, id: string): Promise<ServiceRow> {
  const service = await findInOrg(db, orgId, id)
  if (service === undefined) throw notFound('No notification service found')
  return service
}

export async function lockInOrg(trx: Trx, orgId: string, id: string): Promise<ServiceRow | undefined> {
  await sql`
    select from notification_services where organization_id = ${orgId} and id = ${id} for update`.execute(trx)
  return findInOrg(trx, orgId, id)
}

export async function getLocked(trx: Trx, orgId: string, id: string): Promise<ServiceRow> {
  const service = await lockInOrg(trx, orgId, id)
  if (service === undefined) throw notFound('No notification service found')
  return service
}

/** Whether other services, also of other organizations, are connected to the same workspace: they share its token. */
export async function hasOthersOfWorkspace(db: Db, { id, provider, settings }: ServiceRow): Promise<boolean> {
  const { rows } = await sql`
    select from notification_services
    where provider = ${provider} and settings ->> 'workspace_id' = ${settings['workspace_id'] ?? ''} and id <> ${id}
    limit 1`.execute(db)
  return rows.length > 0
}

/** The service of the organization that is already connected to the same target. */
export async function lockConnected(
  trx: Trx,
  orgId: string,
  provider: ProviderId,
  target: Settings,
): Promise<ServiceRow | undefined> {
  const { rows } = await sql<{ id: string }>`
    select id from notification_services
    where organization_id = ${orgId} and provider = ${provider} and is_connected
      and settings @> ${JSON.stringify(target)}::jsonb
    order by created_at, id limit 1 for update`.execute(trx)
  return rows[0] && findInOrg(trx, orgId, rows[0].id)
}

interface ServiceFields {
  description: string
  scope: ScopeName
  branch_configuration: string
  build_states: BuildStateName[]
  settings: Settings
  secrets_sealed: Buffer | null
  secrets_key_id: string | null
  listening_since: string
}

export async function insert(
  trx: Trx,
  row: ServiceFields & {
    id: string
    organization_id: string
    provider: ProviderId
    provider_name?: string
    is_connected?: true
    created_by: string
  },
): Promise<void> {
  await trx
    .insertInto('notification_services')
    .values({ ...row, settings: JSON.stringify(row.settings) })
    .execute()
}

export async function updateInOrg(
  trx: Trx,
  orgId: string,
  id: string,
  {
    settings,
    ...change
  }: Partial<
    ServiceFields & {
      disabled_at: string | null
      broken_at: null
      broken_reason: null
      dead_letters_in_a_row: 0
    }
  >,
): Promise<void> {
  await trx
    .updateTable('notification_services')
    .set({ ...change, ...(settings === undefined ? {} : { settings: JSON.stringify(settings) }) })
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .execute()
}

/** Deletes its deliveries too. */
export async function deleteInOrg(trx: Trx, orgId: string, id: string): Promise<void> {
  await trx
    .deleteFrom('notification_services')
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .execute()
}

/** What the scope of a service names, in its order. The name is null where the caller may not see it. */
export async function listTargets(
  db: Db,
  org: Organization,
  caller: Caller,
  serviceId: string,
): Promise<Array<{ id: string; name: string | null }>> {
  const { rows } = await sql<{ id: string; name: string | null }>`
    select coalesce(x.pipeline_id, x.team_id, x.cluster_id) as id, case
      when p.id is not null and ${visiblePipelines(org, caller)} then p.name
      when t.id is not null and ${teamIsVisible(org, caller)} then t.name
      else c.name end as name
    from notification_service_targets x left join pipelines p on p.id = x.pipeline_id
      left join teams t on t.id = x.team_id left join clusters c on c.id = x.cluster_id
    where x.organization_id = ${org.id} and x.service_id = ${serviceId} order by x.position`.execute(db)
  return rows
}

export type TargetTable = 'pipelines' | 'teams' | 'clusters'

const targetColumns = { pipelines: 'pipeline_id', teams: 'team_id', clusters: 'cluster_id' } as const

const targetRows: Readonly<Record<TargetTable, RawBuilder<unknown>>> = {
  pipelines: sql`pipelines p`,
  teams: sql`teams t`,
  clusters: sql`clusters c`,
}

/**
 * Locks against deletion and returns the ids that the caller may see, and those in `kept`, which the service has already.
 */
export async function lockTargets(
  trx: Trx,
  org: Organization,
  caller: Caller,
  table: TargetTable,
  { ids, kept }: { ids: readonly string[]; kept: readonly string[] },
): Promise<Set<string>> {
  const visible: Readonly<Record<TargetTable, RawBuilder<boolean>>> = {
    pipelines: visiblePipelines(org, caller),
    teams: teamIsVisible(org, caller),
    clusters: sql`true`,
  }
  const { rows } = await sql<{ id: string }>`
    select id from ${targetRows[table]}
    where organization_id = ${org.id} and id = any (${ids}::uuid[])
      and (id = any (${kept}::uuid[]) or ${visible[table]})
    for key share`.execute(trx)
  return new Set(rows.map(({ id }) => id))
}

export async function replaceTargets(
  trx: Trx,
  orgId: string,
  serviceId: string,
  table: TargetTable | null,
  ids: readonly string[],
): Promise<void> {
  await trx
    .deleteFrom('notification_service_targets')
    .where('organization_id', '=', orgId)
    .where('service_id', '=', serviceId)
    .execute()
  if (table === null || ids.length === 0) return
  await trx
    .insertInto('notification_service_targets')
    .values(
      ids.map((id, position) => ({
        organization_id: orgId,
        service_id: serviceId,
        position,
        [targetColumns[table]]: id,
      })),
    )
    .execute()
}
