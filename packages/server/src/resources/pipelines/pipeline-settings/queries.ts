import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/pool.ts'

export interface SettingsFields {
  default_branch: string | null
  default_cluster_id: string | null
  default_timeout_in_minutes: number | null
  maximum_timeout_in_minutes: number | null
  scheduled_job_expiry_in_minutes: number | null
  /** null: USD. */
  currency: string | null
  hosted_agents_ssh_enabled_at: string | null
  public_pipelines_enabled_at: string | null
  advanced_queue_metrics_enabled_at: string | null
  build_export_location: string | null
  build_export_strategy_id: string | null
}

type Person = { id: string; name: string } | null

export interface SettingsRow extends SettingsFields {
  hosted_agents_ssh_enabled_by: Person
  public_pipelines_enabled_by: Person
  advanced_queue_metrics_enabled_by: Person
}

export type Toggle = 'hosted_agents_ssh' | 'public_pipelines' | 'advanced_queue_metrics'

export type SettingsChange = Partial<SettingsFields> & Partial<Record<`${Toggle}_enabled_by`, string | null>>

const person = (column: `${Toggle}_enabled_by`) => sql`
  (select json_build_object('id', u.id, 'name', u.name) from users u where u.id = ${sql.ref(`s.${column}`)})
    as ${sql.ref(column)}`

/** An organization without a row has null for every setting. */
export async function getOfOrg(db: Db, orgId: string): Promise<SettingsRow> {
  const { rows } = await sql<SettingsRow>`
    select s.default_branch, s.default_cluster_id, s.default_timeout_in_minutes, s.maximum_timeout_in_minutes,
      s.scheduled_job_expiry_in_minutes, s.currency, s.hosted_agents_ssh_enabled_at, s.public_pipelines_enabled_at,
      s.advanced_queue_metrics_enabled_at, s.build_export_location, s.build_export_strategy_id,
      ${person('hosted_agents_ssh_enabled_by')}, ${person('public_pipelines_enabled_by')},
      ${person('advanced_queue_metrics_enabled_by')}
    from organizations o left join organization_pipeline_settings s on s.organization_id = o.id
    where o.id = ${orgId}`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('The organization does not exist.')
  return row
}

/** Until the transaction ends, no other transaction updates the settings. */
export async function lockOfOrg(trx: Trx, orgId: string): Promise<SettingsRow> {
  await sql`
    insert into organization_pipeline_settings (organization_id) values (${orgId})
    on conflict (organization_id) do nothing`.execute(trx)
  await sql`
    select from organization_pipeline_settings
    where organization_id = ${orgId} for no key update`.execute(trx)
  return getOfOrg(trx, orgId)
}

export async function updateOfOrg(trx: Trx, orgId: string, change: SettingsChange): Promise<void> {
  await trx
    .updateTable('organization_pipeline_settings')
    .set(change)
    .where('organization_id', '=', orgId)
    .execute()
}
