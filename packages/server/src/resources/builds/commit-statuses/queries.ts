import { sql } from 'kysely'
import type { StepRow } from '@millrace/engine/rows.ts'
import type { StepDefinition, NotifyEntry } from '@millrace/engine/steps/types.ts'
import { isPreflight } from '../../../db/preflight.ts'
import { isFork, mayBeUntrusted } from '../../../conductor/trust.ts'
import { selectFields, stepColumns } from '../../../conductor/rows.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { connectionOfPipeline } from '../../../db/repository-connection.ts'
import { newestTransaction } from '../../../events/newest.ts'
import { oldestOpen } from '../../../events/oldest-open.ts'
import { hasToTryAgain } from '../../../db/each-row.ts'
import { isFree, leaseEnd } from '../../../tasks/lease.ts'
import type { Settings } from '../../../source-hosts/settings.ts'
import type { Status, StatusState } from '../../../source-hosts/status.ts'
import { connectionColumns, readConnection, type Connection, type ConnectionRow } from './connection.ts'

export interface StatusRow {
  id: string
  context: string
  state: StatusState
  description: string
  commit: string
  changed_at: string
  delivered_at: string | null
  attempts: number
  next_attempt_at: string | null
  error: string | null
}

export async function listOfBuild(
  db: Db,
  orgId: string,
  buildId: string,
  page: { limit: number; offset: number },
): Promise<StatusRow[]> {
  const { rows } = await sql<StatusRow>`
    select s.id, s.context, s.state, s.description, s.commit, s.changed_at, s.delivered_at, s.attempts,
      s.next_attempt_at, s.error
    from commit_statuses s where s.organization_id = ${orgId} and s.build_id = ${buildId}
    order by s.context, s.id limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

/** Undefined: the build has no such status, or a newer build has it. */
export async function updateDue(
  trx: Trx,
  orgId: string,
  buildId: string,
  id: string,
  at: string,
): Promise<StatusRow | undefined> {
  // With a new version, an attempt that is being made does not count for this one.
  const { rows } = await sql<StatusRow>`
    update commit_statuses s set version = s.version + 1, changed_at = ${at}, next_attempt_at = ${at}, attempts = 0,
      error = null
    where s.organization_id = ${orgId} and s.build_id = ${buildId} and s.id = ${id}
    returning s.id, s.context, s.state, s.description, s.commit, s.changed_at, s.delivered_at, s.attempts,
      s.next_attempt_at, s.error`.execute(trx)
  return rows[0]
}

/** How many events are read at a time; those of one transaction are read together. */
const mostEvents = 2000

/**
 * Whether there may be builds to take. It only reads, while taking them writes even if there are none. The cursor is ahead of
 * all transactions where a restored backup numbers them from the start again.
 */
export const hasTouchedBuilds = sql<boolean>`
  coalesce(
    (select c.xid > pg_snapshot_xmax(pg_current_snapshot())::text::bigint
      or coalesce(${newestTransaction(sql`now()`)} >= c.xid, false)
    from commit_status_cursor c), true) or ${hasToTryAgain('commit_statuses')}`

/**
 * The builds with events since the last call whose hosts get statuses. A window of transactions ends where the oldest open
 * one begins, so none that commits late is missed. Null: another worker is reading.
 */
export async function takeTouchedBuilds(trx: Trx): Promise<{ ids: string[]; isMore: boolean } | null> {
  await sql`insert into commit_status_cursor (xid) values (${oldestOpen}) on conflict do nothing`.execute(trx)
  const { rows } = await sql<{ xid: number }>`
    select xid from commit_status_cursor for update skip locked`.execute(trx)
  const [cursor] = rows
  if (cursor === undefined) return null
  // The statement begins after the lock, so it sees all that the last reader saw.
  const { rows: seen } = await sql<{ oldest: number; next: number }>`
    select ${oldestOpen} as oldest, pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next`.execute(
    trx,
  )
  const { oldest, next } = seen[0] ?? { oldest: 0, next: cursor.xid }
  // A restored backup numbers transactions from the start again. Reading events twice is safe.
  const from = cursor.xid > next ? 0 : cursor.xid
  // A transaction of another database that ends at this moment counts, although the last reader left it out.
  const end = Math.max(from, oldest)
  const { rows: ends } = await sql<{ xid: number }>`
    select xid from events where xid > ${from} and xid < ${end}
    order by xid, id offset ${mostEvents} limit 1`.execute(trx)
  const to = ends[0]?.xid ?? end
  const { rows: touched } = await sql<{ build_id: string }>`
    select distinct e.build_id from events e join pipelines p on p.id = e.pipeline_id
    join repository_connections c on c.id = ${connectionOfPipeline}
    where e.xid >= ${from} and e.xid < ${to} and e.build_id is not null and coalesce(c.token_sealed, c.private_key_sealed) is not null`.execute(
    trx,
  )
  if (to !== cursor.xid) await sql`update commit_status_cursor set xid = ${to}`.execute(trx)
  return { ids: touched.map(({ build_id }) => build_id), isMore: ends.length > 0 }
}

export interface PublishedBuild {
  organization_id: string
  pipeline_id: string
  id: string
  number: number
  /** For a pull request that is built as merged, its newest commit. */
  commit: string
  is_fork: boolean
  may_be_untrusted: boolean
  provider_settings: Settings
  notify: readonly NotifyEntry[]
}

/** Undefined: the commit of the build is not known yet, or nobody but its creator has it. */
export async function findPublished(db: Db, id: string): Promise<PublishedBuild | undefined> {
  const { rows } = await sql<PublishedBuild>`
    select b.organization_id, b.pipeline_id, b.id, b.number, coalesce(b.pull_request ->> 'head', b.commit) as commit,
      coalesce(${isFork}, false) as is_fork, coalesce(${mayBeUntrusted}, false) as may_be_untrusted, p.provider_settings, b.notify
    from builds b join pipelines p on p.id = b.pipeline_id
    where b.id = ${id} and not ${isPreflight} and coalesce(b.pull_request ->> 'head', b.commit) ~ '^[0-9a-f]{12,64}$'`.execute(
    db,
  )
  return rows[0]
}

export async function listSteps(
  db: Db,
  orgId: string,
  buildId: string,
  which: 'all' | 'notifying',
): Promise<Array<StepRow & { definition: StepDefinition }>> {
  const { rows } = await sql<StepRow & { definition: StepDefinition }>`
    select ${selectFields('s', stepColumns)}, s.definition from build_steps s
    where s.organization_id = ${orgId} and s.build_id = ${buildId}
      and (${which === 'all'} or s.definition -> 'notify' @> '[{"service": "github_commit_status"}]'
        or s.definition -> 'notify' @> '[{"service": "github_check"}]')
    order by s.position, s.id`.execute(db)
  return rows
}

/** A newer build of the same commit takes over its contexts for good. Returns whether a status changed. */
export async function upsert(
  trx: Trx,
  build: PublishedBuild,
  statuses: ReadonlyArray<Status & { id: string }>,
  at: string,
): Promise<boolean> {
  if (statuses.length === 0) return false
  const { numAffectedRows } = await sql`
    insert into commit_statuses (id, organization_id, pipeline_id, build_id, build_number, commit, context, state,
      description, output, changed_at, next_attempt_at)
    select n.id, ${build.organization_id}, ${build.pipeline_id}, ${build.id}, ${build.number}, ${build.commit},
      n.context, n.state, n.description, n.output, ${at}, ${at}
    from jsonb_to_recordset(${JSON.stringify(statuses)}::jsonb)
      as n (id uuid, context text, state text, description text, output jsonb)
    order by n.context
    on conflict (pipeline_id, commit, context) do update set
      build_id = excluded.build_id, build_number = excluded.build_number, state = excluded.state,
      description = excluded.description, output = excluded.output, version = commit_statuses.version + 1, changed_at = excluded.changed_at,
      attempts = 0, next_attempt_at = excluded.next_attempt_at, error = null
    where commit_statuses.build_number <= excluded.build_number
      and (commit_statuses.build_id, commit_statuses.state, commit_statuses.description)
        is distinct from (excluded.build_id, excluded.state, excluded.description)`.execute(trx)
  return (numAffectedRows ?? 0n) > 0n
}

/** How long a status is kept of a commit that needed no build. */
const keptDays = 90

/** False: the commit has a status with this context, of a build or of an earlier event, or nobody can be told. */
export async function insertNotNeeded(
  trx: Trx,
  { organizationId, pipelineId }: { organizationId: string; pipelineId: string },
  status: { id: string; commit: string; context: string; description: string },
  at: string,
): Promise<boolean> {
  await sql`
    delete from commit_statuses
    where organization_id = ${organizationId} and pipeline_id = ${pipelineId} and build_id is null
      and changed_at < ${at}::timestamptz - make_interval(days => ${keptDays})`.execute(trx)
  const { id, commit, context, description } = status
  const { rows } = await sql`
    insert into commit_statuses (id, organization_id, pipeline_id, build_id, build_number, commit, context, state,
      description, changed_at, next_attempt_at)
    select ${id}, p.organization_id, p.id, null, 0, ${commit}, ${context}, 'success', ${description}, ${at}, ${at}
    from pipelines p
    join repository_connections c on c.id = ${connectionOfPipeline}
    where p.organization_id = ${organizationId} and p.id = ${pipelineId}
      and coalesce(c.token_sealed, c.private_key_sealed) is not null
    on conflict do nothing returning id`.execute(trx)
  return rows.length > 0
}

export interface DueStatus extends Status {
  id: string
  pipeline_id: string
  /** Null: no build was needed. */
  build_id: string | null
  organization_id: string
  version: number
  commit: string
  /** The open pull requests with the commit, and that of the build. */
  pull_requests: string[]
  changed_at: string
  attempts: number
  repository: string
  /** `organization/pipeline` */
  address: string
  /** The page of the build, or of the pipeline. */
  path: string
  connection: Connection | null
}

type ClaimedRow = Omit<DueStatus, 'connection'> & ConnectionRow

/** Few per pipeline, so that a host that does not answer does not delay the statuses of others. */
const mostOfOnePipeline = 2
/** Longer than a request may take. */
const leaseSeconds = 60

const mostPulls = 5

/** For queries with `commit_statuses s`. Through the API somebody may give anything as the number of a pull request. */
const pullsWithCommit = sql`array(
  select number from (
    select r.number from pull_requests r
    where r.organization_id = s.organization_id and r.pipeline_id = s.pipeline_id and r.data ->> 'commit' = s.commit
    union
    select b.pull_request ->> 'id' from builds b where b.organization_id = s.organization_id and b.id = s.build_id
  ) as known where number ~ '^[1-9][0-9]{0,9}$' order by number::bigint desc limit ${mostPulls})`

/** For pull requests that are opened, or get the commit, after its statuses were sent. Returns whether there are any. */
export async function sendAgain(
  trx: Trx,
  { id, organization_id }: { id: string; organization_id: string },
  commit: string,
  at: string,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update commit_statuses set version = version + 1, changed_at = ${at}, next_attempt_at = ${at}, attempts = 0, error = null
    where organization_id = ${organization_id} and pipeline_id = ${id} and commit = ${commit}`.execute(trx)
  return (numAffectedRows ?? 0n) > 0n
}

/** A task may run a moment before its time by the clock of this process, hence the second. */
export async function claimDue(db: Db, pipelineId: string, now: string): Promise<DueStatus[]> {
  const { rows } = await sql<ClaimedRow>`
    with due as (
      select s.id from commit_statuses s
      where s.pipeline_id = ${pipelineId} and s.next_attempt_at <= ${now}::timestamptz + interval '1 second'
        and ${isFree('s.leased_until', now)}
      order by s.next_attempt_at, s.id
      limit greatest(0, ${mostOfOnePipeline} - (
        select count(*) from commit_statuses f
        where f.pipeline_id = ${pipelineId} and f.leased_until > ${now}))
      for update skip locked
    )
    update commit_statuses s set leased_until = ${leaseEnd(now, leaseSeconds)}
    from due, pipelines p join organizations o on o.id = p.organization_id
    left join repository_connections c on c.id = ${connectionOfPipeline}
    where s.id = due.id and p.id = s.pipeline_id
    returning s.id, s.organization_id, s.pipeline_id, s.build_id, s.version, s.commit, s.context, s.state, s.description, s.changed_at, s.attempts,
      ${pullsWithCommit} as pull_requests, coalesce(s.output, '{}') as output, p.repository, o.slug || '/' || p.slug as address, '/' || o.slug || '/' || p.slug || case when s.build_id is null then '' else '/builds/' || s.build_number end as path,
      ${connectionColumns}`.execute(db)
  return rows.map((row) => ({ ...row, connection: readConnection(row) }))
}

export async function findNextAttempt(db: Db, pipelineId: string, now: string): Promise<string | null> {
  const { rows } = await sql<{ at: string | null }>`
    select min(next_attempt_at) as at from commit_statuses s
    where s.pipeline_id = ${pipelineId} and ${isFree('s.leased_until', now)}`.execute(db)
  return rows[0]?.at ?? null
}

export async function listPipelinesWithDue(db: Db, now: string): Promise<string[]> {
  const { rows } = await sql<{ pipeline_id: string }>`
    select s.pipeline_id from commit_statuses s
    where s.next_attempt_at <= ${now} and ${isFree('s.leased_until', now)}
    union select f.pipeline_id from failure_comments f
    where f.next_attempt_at <= ${now} and ${isFree('f.leased_until', now)}`.execute(db)
  return rows.map(({ pipeline_id }) => pipeline_id)
}

/** The jobs that make the build fail, or one step of it. */
export async function listFailingJobs(
  db: Db,
  orgId: string,
  buildId: string,
  { stepId, limit }: { stepId: string | null; limit: number },
): Promise<Array<{ id: string; name: string }>> {
  const { rows } = await sql<{ id: string; name: string }>`
    select id, coalesce(nullif(work ->> 'label', ''), nullif(split_part(work ->> 'command', E'\n', 1), ''), kind) as name
    from jobs
    where organization_id = ${orgId} and build_id = ${buildId} and kind = 'script' and retried_in_job_id is null
      and state in ('failed', 'timed_out') and not soft_failed and (${stepId}::uuid is null or step_id = ${stepId})
    order by position, id limit ${limit}`.execute(db)
  return rows
}

/** A state that changed during the attempt is due at once. */
export async function recordDelivered(
  db: Db,
  { id, organization_id, version }: DueStatus,
  at: string,
): Promise<void> {
  await sql`
    update commit_statuses set delivered_at = ${at}, leased_until = null, attempts = 0, error = null,
      next_attempt_at = case when version = ${version} then null else ${at}::timestamptz end
    where organization_id = ${organization_id} and id = ${id}`.execute(db)
}

/** `next` null: no further attempt is made. */
export async function recordFailed(
  db: Db,
  { id, organization_id, version }: DueStatus,
  error: string,
  at: string,
  next: string | null,
): Promise<void> {
  await sql`
    update commit_statuses set leased_until = null, error = ${error},
      attempts = case when version = ${version} then attempts + 1 else 0 end,
      next_attempt_at = case when version = ${version} then ${next}::timestamptz else ${at}::timestamptz end
    where organization_id = ${organization_id} and id = ${id}`.execute(db)
}

/** How problems of comments begin: a status that is accepted does not end them. */
const ofComments = 'No comment on a pull request: '

export const recordCommentProblem = (
  db: Db,
  orgId: string,
  connectionId: string,
  problem: string | null,
  at: string,
): Promise<void> =>
  writeProblem(db, orgId, connectionId, problem && `${ofComments}${problem}`, { at, isOfComments: true })

export const recordProblem = (
  db: Db,
  orgId: string,
  connectionId: string,
  problem: string | null,
  at: string,
): Promise<void> => writeProblem(db, orgId, connectionId, problem, { at, isOfComments: false })

/** Writes only a change, since many statuses go through one connection. */
async function writeProblem(
  db: Db,
  orgId: string,
  connectionId: string,
  problem: string | null,
  { at, isOfComments }: { at: string; isOfComments: boolean },
): Promise<void> {
  await sql`
    update repository_connections set problem = ${problem}, problem_at = ${problem === null ? null : at}
    where organization_id = ${orgId} and id = ${connectionId} and problem is distinct from ${problem}
      and (${problem !== null} or starts_with(problem, ${ofComments}) = ${isOfComments})`.execute(db)
}
