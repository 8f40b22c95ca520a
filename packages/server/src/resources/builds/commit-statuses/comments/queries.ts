import { sql } from 'kysely'
import type { Db, Trx } from '../../../../db/pool.ts'
import { connectionOfPipeline } from '../../../../db/repository-connection.ts'
import { typesWithComments } from '../../../../source-hosts/hosts.ts'
import { newId } from '../../../../lib/ids.ts'
import { isFree, leaseEnd } from '../../../../tasks/lease.ts'
import { connectionColumns, readConnection, type Connection, type ConnectionRow } from '../connection.ts'

interface EndedBuild {
  organization_id: string
  pipeline_id: string
  id: string
  number: number
  state: 'failed' | 'passed'
  pull_request: string
}

/** The first comment is due when a build has failed. Returns whether the comment changes. */
export async function upsertComment(trx: Trx, build: EndedBuild, at: string): Promise<boolean> {
  const { organization_id: orgId, pipeline_id: pipelineId } = build
  const { rows } = await sql`
    insert into failure_comments as c (id, organization_id, pipeline_id, repository, pull_request, build_id, build_number,
      build_finished_at, state, marker, created_at, changed_at, next_attempt_at)
    select ${newId()}, b.organization_id, b.pipeline_id, p.repository, ${build.pull_request}, b.id, b.number, b.finished_at,
      ${build.state}, ${newId()}, ${at}, ${at}, ${at}
    from builds b join pipelines p on p.organization_id = b.organization_id and p.id = b.pipeline_id
    join repository_connections h on h.id = ${connectionOfPipeline} and h.type = any(${typesWithComments})
    where b.organization_id = ${orgId} and b.id = ${build.id} and (${build.state === 'failed'} or exists (
      select from failure_comments k
      where k.organization_id = ${orgId} and k.pipeline_id = ${pipelineId} and k.repository = p.repository
        and k.pull_request = ${build.pull_request}))
    on conflict (pipeline_id, repository, pull_request) do update set
      build_id = excluded.build_id, build_number = excluded.build_number, build_finished_at = excluded.build_finished_at,
      state = excluded.state, version = c.version + 1, changed_at = excluded.changed_at, attempts = 0,
      next_attempt_at = excluded.next_attempt_at, error = null
    where c.build_number <= excluded.build_number
      and (c.build_id, c.build_finished_at, c.state)
        is distinct from (excluded.build_id, excluded.build_finished_at, excluded.state)
    returning c.id`.execute(trx)
  return rows.length > 0
}

export interface DueComment {
  id: string
  organization_id: string
  pipeline_id: string
  repository: string
  pull_request: string
  build_id: string | null
  number: number
  commit: string | null
  state: 'failed' | 'passed'
  marker: string
  comment_id: string | null
  version: number
  created_at: string
  changed_at: string
  attempts: number
  /** `organization/pipeline` */
  address: string
  /** Null also where the pipeline has another repository now. */
  connection: Connection | null
}

/** Longer than all requests for one comment may take together: two of them must never make one. */
const leaseSeconds = 300

/** One at a time, for a host that does not answer. A task may run a moment before its time, hence the second. */
export async function claimDueComment(
  db: Db,
  pipelineId: string,
  now: string,
): Promise<DueComment | undefined> {
  const { rows } = await sql<DueComment & ConnectionRow & { is_there: boolean }>`
    with due as (
      select f.id from failure_comments f
      where f.pipeline_id = ${pipelineId} and f.next_attempt_at <= ${now}::timestamptz + interval '1 second'
        and ${isFree('f.leased_until', now)}
      order by f.next_attempt_at, f.id limit 1
      for update skip locked
    )
    update failure_comments f set leased_until = ${leaseEnd(now, leaseSeconds)}
    from due, pipelines p join organizations o on o.id = p.organization_id
    left join repository_connections c on c.id = ${connectionOfPipeline}
    where f.id = due.id and p.organization_id = f.organization_id and p.id = f.pipeline_id
    returning f.id, f.organization_id, f.pipeline_id, f.repository, f.pull_request, f.build_id, f.build_number as number,
      (select coalesce(b.pull_request ->> 'head', b.commit) from builds b
        where b.organization_id = f.organization_id and b.id = f.build_id) as commit,
      f.state, f.marker, f.comment_id, f.version, f.created_at, f.changed_at, f.attempts,
      o.slug || '/' || p.slug as address, p.repository = f.repository as is_there, ${connectionColumns}`.execute(
    db,
  )
  const [row] = rows
  return row && { ...row, connection: row.is_there ? readConnection(row) : null }
}

export async function findNextComment(db: Db, pipelineId: string, now: string): Promise<string | null> {
  const { rows } = await sql<{ at: string | null }>`
    select min(next_attempt_at) as at from failure_comments f
    where f.pipeline_id = ${pipelineId} and ${isFree('f.leased_until', now)}`.execute(db)
  return rows[0]?.at ?? null
}

/** At once, so that it is not made again whatever happens next. */
export async function recordComment(
  db: Db,
  { organization_id: orgId, id }: DueComment,
  commentId: string,
): Promise<void> {
  await sql`
    update failure_comments set comment_id = ${commentId} where organization_id = ${orgId} and id = ${id}`.execute(
    db,
  )
}

/** Somebody has deleted it at the host. A new one has a new marker, since everybody could read the old one and repeat it. */
export async function recordDeleted(
  db: Db,
  { organization_id: orgId, id }: DueComment,
  at: string,
): Promise<string> {
  const marker = newId()
  await sql`
    update failure_comments set comment_id = null, marker = ${marker}, created_at = ${at}
    where organization_id = ${orgId} and id = ${id}`.execute(db)
  return marker
}

/** `problem` null: the host has it. A state that changed during the attempt is due at once. */
export async function recordAttempt(
  db: Db,
  { organization_id: orgId, id, version }: DueComment,
  problem: { message: string; next: string | null } | null,
  at: string,
): Promise<void> {
  await sql`
    update failure_comments set leased_until = null, error = ${problem?.message ?? null},
      attempts = case when version = ${version} and ${problem !== null} then attempts + 1 else 0 end,
      next_attempt_at = case when version = ${version} then ${problem?.next ?? null}::timestamptz else ${at}::timestamptz end
    where organization_id = ${orgId} and id = ${id}`.execute(db)
}
