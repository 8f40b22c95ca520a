import { sql } from 'kysely'
import { buildableBy } from '../../../auth/pipeline-access.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { userJson, type UserRow } from '../../people/user/queries.ts'

export interface ScheduleFields {
  label: string
  cronline: string
  message: string | null
  commit: string
  /** null: the pipeline's default branch at that time. */
  branch: string | null
  env: Readonly<Record<string, string>>
  enabled: boolean
  next_build_at: string | null
  failed_message: string | null
  failed_at: string | null
}

export interface ScheduleRow extends ScheduleFields {
  id: string
  pipeline_id: string
  pipeline_slug: string
  pipeline_default_branch: string
  created_at: string
  created_by: UserRow | null
}

const select = sql`
  select s.id, s.pipeline_id, p.slug as pipeline_slug, p.default_branch as pipeline_default_branch, s.label, s.cronline,
    s.message, s.commit, s.branch, s.env, s.enabled, s.next_build_at, s.failed_message, s.failed_at, s.created_at,
    ${userJson('creator')} as created_by
  from pipeline_schedules s join pipelines p on p.id = s.pipeline_id
  left join users creator on creator.id = s.created_by`

export async function listInPipeline(
  db: Db,
  orgId: string,
  pipelineSlug: string,
  page: { limit: number; offset: number },
): Promise<ScheduleRow[]> {
  const { rows } = await sql<ScheduleRow>`${select}
    where p.organization_id = ${orgId} and p.slug = ${pipelineSlug}
    order by s.created_at desc, s.id desc limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

export async function findInPipeline(
  db: Db,
  orgId: string,
  pipelineSlug: string,
  id: string,
): Promise<ScheduleRow | undefined> {
  const { rows } = await sql<ScheduleRow>`${select}
    where p.organization_id = ${orgId} and p.slug = ${pipelineSlug} and s.id = ${id}`.execute(db)
  return rows[0]
}

/** The same, locked until the transaction ends. */
export async function lockInPipeline(
  trx: Trx,
  orgId: string,
  pipelineSlug: string,
  id: string,
): Promise<ScheduleRow | undefined> {
  await sql`
    select from pipeline_schedules where organization_id = ${orgId} and id = ${id} for no key update`.execute(
    trx,
  )
  return findInPipeline(trx, orgId, pipelineSlug, id)
}

export async function insert(
  trx: Trx,
  row: ScheduleFields & { id: string; organization_id: string; pipeline_id: string; created_by: string },
): Promise<void> {
  await trx
    .insertInto('pipeline_schedules')
    .values({ ...row, env: JSON.stringify(row.env) })
    .execute()
}

export async function updateInOrg(
  trx: Trx,
  orgId: string,
  id: string,
  { env, ...plain }: Partial<ScheduleFields> & { created_by?: string },
): Promise<void> {
  await trx
    .updateTable('pipeline_schedules')
    .set({ ...plain, ...(env === undefined ? {} : { env: JSON.stringify(env) }) })
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .execute()
}

export async function deleteInOrg(trx: Trx, orgId: string, id: string): Promise<void> {
  await trx
    .deleteFrom('pipeline_schedules')
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .execute()
}

export interface DueSchedule {
  id: string
  organization_id: string
  pipeline_id: string
  label: string
  cronline: string
  message: string | null
  commit: string
  branch: string
  env: Record<string, string>
  created_by: string | null
  /** Whether the owner is still a member who may build the pipeline. */
  owner_may_build: boolean
  /** The scheduled time. */
  due_at: string
}

export const hasDue = sql<boolean>`
  exists (select from pipeline_schedules where enabled and next_build_at <= now())`

/** For tasks/pauses.ts. */
export const scheduleTimes = sql<string | null>`select next_build_at from pipeline_schedules where enabled`

/** So many schedules may be due at the same time without being spread. */
const few = 20

/**
 * Schedules of all organizations that are due, the longest overdue first. If many are due, each of them is due up to
 * `spreadSeconds` later, always by the same time.
 */
export async function listDue(
  db: Db,
  { now, spreadSeconds, limit }: { now: string; spreadSeconds: number; limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with due as (select id, next_build_at from pipeline_schedules where enabled and next_build_at <= ${now}::timestamptz)
    select id from due
    where (select count(*) from (select from due limit ${few + 1}) first) <= ${few}
      or next_build_at + ${spreadSeconds}::int * make_interval(secs => (hashtext(id::text) & 1023) / 1024.0) <= ${now}::timestamptz
    order by next_build_at, id limit ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}

/** Locks the schedule, unless it is not due any more or another process fires it. */
export async function claimDue(trx: Trx, id: string, now: string): Promise<DueSchedule | undefined> {
  const { rows } = await sql<DueSchedule>`
    select s.id, s.organization_id, s.pipeline_id, s.label, s.cronline, s.message, s.commit,
      coalesce(s.branch, p.default_branch) as branch, s.env, s.created_by, s.next_build_at as due_at,
      ${buildableBy(sql`s.created_by`)} as owner_may_build
    from pipeline_schedules s join pipelines p on p.id = s.pipeline_id
    where s.id = ${id} and s.enabled and s.next_build_at <= ${now}
    for no key update of s skip locked`.execute(trx)
  return rows[0]
}

/** Does nothing if the schedule was fired, updated or deleted meanwhile. */
export async function recordFiring(
  db: Db,
  { id, organization_id, due_at }: DueSchedule,
  after: Pick<ScheduleFields, 'next_build_at' | 'failed_message' | 'failed_at'>,
): Promise<void> {
  await db
    .updateTable('pipeline_schedules')
    .set(after)
    .where('organization_id', '=', organization_id)
    .where('id', '=', id)
    .where('next_build_at', '=', due_at)
    .execute()
}
