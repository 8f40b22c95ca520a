import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/pool.ts'
import { notFound } from '../../../lib/errors.ts'
import type { Style } from './schema.ts'

export interface AnnotationRow {
  id: string
  context: string
  style: Style | null
  priority: number
  /** null: of the whole build. */
  job_id: string | null
  created_at: string
  updated_at: string
}

export interface ListedRow extends AnnotationRow {
  /** Whether its HTML is stored. */
  is_rendered: boolean
  /** null: not asked for, not rendered yet, or too large to come with the others. */
  body_html: string | null
}

export interface WrittenBody {
  id: string
  body: string
  /** The version of the row that has this body. */
  revision: string
}

export type Scope = 'build' | 'job' | 'all'

/** The owner of an annotation: a job, or without one the build. */
export interface Owner {
  organizationId: string
  buildId: string
  jobId: string | null
}

/** Raised with every change of the renderer's output, so that stored HTML is rendered again. */
const rendererVersion = 2
/** The most that is read with the rows of a list. Larger ones are read one by one. */
const mostHtmlBytes = 512 * 1024

const columns = sql`a.id, a.context, a.style, a.priority, a.job_id, a.created_at, a.updated_at`
const revision = sql`${sql.lit(String(rendererVersion))} || ' ' || extract(epoch from a.updated_at)`
const isRendered = sql`a.body_html is not null and a.body_html_of is not distinct from ${revision}`

/** The most important first, then the oldest. */
export async function listOf(
  db: Db,
  owner: Owner,
  { scope, withBody, limit, offset }: { scope: Scope; withBody: boolean; limit: number; offset: number },
): Promise<ListedRow[]> {
  const { rows } = await sql<ListedRow>`
    with page as (
      select ${columns}, ${isRendered} as is_rendered, octet_length(a.body_html) as html_bytes from annotations a
      where a.organization_id = ${owner.organizationId} and a.build_id = ${owner.buildId}
        and (${owner.jobId}::uuid is null or a.job_id = ${owner.jobId}::uuid)
        and (${scope} = 'all' or (a.job_id is not null) = (${scope} = 'job'))
      order by a.priority desc, a.created_at, a.id limit ${limit} offset ${offset}),
    sized as (select *, sum(html_bytes) over (order by priority desc, created_at, id) as bytes_until from page)
    select s.id, s.context, s.style, s.priority, s.job_id, s.created_at, s.updated_at, s.is_rendered, h.body_html
    from sized s left join annotations h on h.organization_id = ${owner.organizationId} and h.id = s.id
      and ${withBody} and s.is_rendered and s.bytes_until <= ${mostHtmlBytes}
    order by s.priority desc, s.created_at, s.id`.execute(db)
  return rows
}

export async function findBody(
  db: Db,
  owner: Owner,
  id: string,
): Promise<(WrittenBody & { body_html: string | null }) | undefined> {
  const { rows } = await sql<WrittenBody & { body_html: string | null }>`
    select a.id, ${revision} as revision, case when ${isRendered} then a.body_html end as body_html,
      case when ${isRendered} then '' else a.body end as body
    from annotations a
    where a.organization_id = ${owner.organizationId} and a.build_id = ${owner.buildId} and a.id = ${id}`.execute(
    db,
  )
  return rows[0]
}

/** Does nothing if the body has changed since. */
export async function storeHtml(db: Db, owner: Owner, written: WrittenBody, html: string): Promise<void> {
  await sql`
    update annotations a set body_html = ${html}, body_html_of = ${written.revision}
    where a.organization_id = ${owner.organizationId} and a.build_id = ${owner.buildId} and a.id = ${written.id}
      and ${revision} = ${written.revision}`.execute(db)
}

interface Given {
  id: string
  context: string
  /** undefined: as it was; null in a new one. */
  style: Style | null | undefined
  /** undefined: as it was; 3 in a new one. */
  priority: number | undefined
  body: string
  append: boolean
  /** The job that writes it. */
  writerJobId: string | null
}

type PutRow = AnnotationRow & WrittenBody & { is_new: boolean }

/** Creates the annotation of that context, or replaces or extends the existing one. Concurrent calls run one after the other. */
export async function put(trx: Trx, owner: Owner, given: Given): Promise<PutRow> {
  const target =
    owner.jobId === null
      ? sql`(build_id, context) where job_id is null`
      : sql`(job_id, context) where job_id is not null`
  // The column keeps milliseconds: a smaller step would be rounded away, and two bodies would have one revision.
  const { rows } = await sql<PutRow>`
    insert into annotations as a (id, organization_id, build_id, job_id, context, style, priority, body, writer_job_id)
    values (${given.id}, ${owner.organizationId}, ${owner.buildId}, ${owner.jobId}, ${given.context},
      ${given.style ?? null}, ${given.priority ?? 3}, ${given.body}, ${given.writerJobId})
    on conflict ${target} do update set
      body = case when ${given.append} then a.body || excluded.body else excluded.body end,
      style = case when ${given.style === undefined} then a.style else excluded.style end,
      priority = case when ${given.priority === undefined} then a.priority else excluded.priority end,
      writer_job_id = excluded.writer_job_id,
      updated_at = greatest(now(), a.updated_at + interval '1 millisecond')
    returning ${columns}, a.body, ${revision} as revision, a.id = ${given.id} as is_new`.execute(trx)
  const [row] = rows
  if (row === undefined) throw new Error('An annotation vanished while it was written.')
  return row
}

export async function getByContext(
  db: Db,
  owner: Owner,
  context: string,
): Promise<AnnotationRow & WrittenBody> {
  const { rows } = await sql<AnnotationRow & WrittenBody>`
    select ${columns}, a.body, ${revision} as revision from annotations a
    where a.organization_id = ${owner.organizationId} and a.build_id = ${owner.buildId}
      and a.job_id is not distinct from ${owner.jobId}::uuid and a.context = ${context}`.execute(db)
  const [row] = rows
  if (row === undefined) throw notFound('No annotation found')
  return row
}

/** The deleted annotation; of two concurrent calls one returns it. */
export async function deleteOf(trx: Trx, owner: Owner, id: string): Promise<{ context: string } | undefined> {
  const { rows } = await sql<{ context: string }>`
    delete from annotations
    where organization_id = ${owner.organizationId} and build_id = ${owner.buildId} and id = ${id}
      and (${owner.jobId}::uuid is null or job_id = ${owner.jobId}::uuid)
    returning context`.execute(trx)
  return rows[0]
}
