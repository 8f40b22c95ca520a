import { sql } from 'kysely'
import type { Db, Trx } from '../../db/pool.ts'
import type { Style } from './schema.ts'

export interface AnnotationRow {
  id: string
  context: string
  style: Style | null
  priority: number
  /** null: of the whole build. */
  job_id: string | null
  body: string
  created_at: string
  updated_at: string
}

export type Scope = 'build' | 'job' | 'all'

/** What an annotation belongs to; without a job: the build as a whole. */
export interface Owner {
  organizationId: string
  buildId: string
  jobId: string | null
}

const columns = sql`a.id, a.context, a.style, a.priority, a.job_id, a.created_at, a.updated_at`

/** The most important first, then the oldest. With `withBody` false the bodies stay where they are. */
export async function listOf(
  db: Db,
  owner: Owner,
  { scope, withBody, limit, offset }: { scope: Scope; withBody: boolean; limit: number; offset: number },
): Promise<AnnotationRow[]> {
  const { rows } = await sql<AnnotationRow>`
    select ${columns}, case when ${withBody} then a.body else '' end as body from annotations a
    where a.organization_id = ${owner.organizationId} and a.build_id = ${owner.buildId}
      and (${owner.jobId}::uuid is null or a.job_id = ${owner.jobId}::uuid)
      and (${scope} = 'all' or (a.job_id is not null) = (${scope} = 'job'))
    order by a.priority desc, a.created_at, a.id limit ${limit} offset ${offset}`.execute(db)
  return rows
}

export interface Given {
  id: string
  context: string
  /** undefined: as it was; null in a new one. */
  style: Style | null | undefined
  /** undefined: as it was; 3 in a new one. */
  priority: number | undefined
  body: string
  append: boolean
}

/** Makes the annotation of that context, or replaces or extends the one there is; two at once come one after the other. */
export async function put(
  trx: Trx,
  owner: Owner,
  given: Given,
): Promise<AnnotationRow & { is_new: boolean }> {
  const target =
    owner.jobId === null
      ? sql`(build_id, context) where job_id is null`
      : sql`(job_id, context) where job_id is not null`
  const { rows } = await sql<AnnotationRow & { is_new: boolean }>`
    insert into annotations as a (id, organization_id, build_id, job_id, context, style, priority, body)
    values (${given.id}, ${owner.organizationId}, ${owner.buildId}, ${owner.jobId}, ${given.context},
      ${given.style ?? null}, ${given.priority ?? 3}, ${given.body})
    on conflict ${target} do update set
      body = case when ${given.append} then a.body || excluded.body else excluded.body end,
      style = case when ${given.style === undefined} then a.style else excluded.style end,
      priority = case when ${given.priority === undefined} then a.priority else excluded.priority end,
      updated_at = now()
    returning ${columns}, a.body, a.id = ${given.id} as is_new`.execute(trx)
  const [row] = rows
  if (row === undefined) throw new Error('An annotation vanished while it was written.')
  return row
}

/** What was deleted: of two who delete at once, one did. */
export async function deleteOf(trx: Trx, owner: Owner, id: string): Promise<{ context: string } | undefined> {
  const { rows } = await sql<{ context: string }>`
    delete from annotations
    where organization_id = ${owner.organizationId} and build_id = ${owner.buildId} and id = ${id}
      and (${owner.jobId}::uuid is null or job_id = ${owner.jobId}::uuid)
    returning context`.execute(trx)
  return rows[0]
}
