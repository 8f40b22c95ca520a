import { sql } from 'kysely'
import type { Db, Trx } from '../db/pool.ts'
import type { Settings } from '../source-hosts/settings.ts'
import type { LedgerOf } from './ledger-queries.ts'
import type { PollClaim } from './poll-queries.ts'

export interface PulledPipeline {
  repository: string
  provider_settings: Settings
  pulls_etag: string | null
  pulls_read_at: string | null
}

/** Undefined: no delivery has come, so nobody expects pull requests to be built. */
export async function findPulled(
  db: Db,
  { pipeline_id, organization_id, claim }: PollClaim,
): Promise<PulledPipeline | undefined> {
  const { rows } = await sql<PulledPipeline>`
    select p.repository, p.provider_settings, q.pulls_etag, q.pulls_read_at
    from pipeline_polls q join pipelines p on p.id = q.pipeline_id
    where q.organization_id = ${organization_id} and q.pipeline_id = ${pipeline_id} and q.claim = ${claim}
      and q.delivered_at is not null and p.webhooks_disabled_at is null and p.repository = q.repository`.execute(
    db,
  )
  return rows[0]
}

interface KeptPull {
  commit: string
  updated_at: string
}

export async function findKept(
  trx: Trx,
  { id, organization_id }: LedgerOf,
  number: string,
): Promise<KeptPull | undefined> {
  const { rows } = await sql<KeptPull>`
    select data ->> 'commit' as commit, updated_at from pull_requests
    where organization_id = ${organization_id} and pipeline_id = ${id} and number = ${number}`.execute(trx)
  return rows[0]
}

/** Those that the host no longer lists are closed, except for those that a delivery named since. */
export async function deleteClosed(
  db: Db,
  { id, organization_id }: LedgerOf,
  open: readonly string[],
  before: string,
): Promise<void> {
  await sql`
    delete from pull_requests
    where organization_id = ${organization_id} and pipeline_id = ${id} and updated_at < ${before}
      and number <> all (${open}::text[])`.execute(db)
}

export async function recordPulls(
  db: Db,
  { pipeline_id, organization_id, claim }: PollClaim,
  { etag, readAt }: { etag: string | null; readAt: string },
): Promise<void> {
  await sql`
    update pipeline_polls set pulls_etag = ${etag}, pulls_read_at = ${readAt}, pulls_error = null
    where organization_id = ${organization_id} and pipeline_id = ${pipeline_id} and claim = ${claim}`.execute(
    db,
  )
}

export async function recordPullsError(
  db: Db,
  { pipeline_id, organization_id, claim }: PollClaim,
  error: string,
): Promise<void> {
  await sql`
    update pipeline_polls set pulls_error = ${error}
    where organization_id = ${organization_id} and pipeline_id = ${pipeline_id} and claim = ${claim}`.execute(
    db,
  )
}

/** The build of a commit of a pull request of which no delivery had told. From now on one has. */
export async function takeUndelivered(
  trx: Trx,
  { id, organization_id }: LedgerOf,
  ref: string,
  commit: string,
  at: string,
): Promise<number | null> {
  const { rows } = await sql<{ build_number: number }>`
    update repository_pushes set delivered_at = ${at}
    where organization_id = ${organization_id} and pipeline_id = ${id} and ref = ${ref} and commit = ${commit}
      and delivered_at is null and build_number is not null
    returning build_number`.execute(trx)
  return rows[0]?.build_number ?? null
}
