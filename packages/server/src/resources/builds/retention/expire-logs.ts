import { sql } from 'kysely'
import { release } from '../../../blobs/unclaimed.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import * as retention from './queries.ts'
import { addOne } from './report.ts'
import { archivesWithDueLogs, logsOf, policies, strippableBuilds, type Position } from './selection.ts'
import type { Step } from './step.ts'

const buildsAtOnce = 50
const logsAtOnce = 500
const archivesAtOnce = 25

/** Deletes the logs of some builds. Their objects are listed as unclaimed, and so deleted after the commit. */
export const expireLogs: Step = async ({ db }, pipeline, terms, report) => {
  const { organizationId, pipelineId } = pipeline
  const scope = { organizationId, pipelineIds: [pipelineId] }
  const deleted = await inTransaction(db, async (trx) => {
    const { rows: builds } = await sql<Position>`
      with ${policies(scope, terms)}
      select b.id, b.finished_at from policy p
      cross join lateral (${strippableBuilds('logs', { after: null, limit: buildsAtOnce })}) b
      order by b.finished_at, b.id`.execute(trx)
    const last = builds.at(-1)
    if (last === undefined) return null
    const logs = await deleteLogs(trx, organizationId, builds)
    if (logs.length === logsAtOnce) return { logs, hasMore: true }
    await retention.moveOn(trx, organizationId, pipelineId, 'logs', last)
    return { logs, hasMore: builds.length === buildsAtOnce }
  })
  for (const log of deleted?.logs ?? []) addOne(report.logs, log)
  return deleted?.hasMore ?? false
}

/**
 * Locks the rows before it reads their keys, because compaction may be about to store others. Later readers get the
 * answer for a deleted log.
 */
async function deleteLogs(
  trx: Trx,
  orgId: string,
  builds: readonly Position[],
): Promise<Array<{ finished_at: string; bytes: number }>> {
  const ids = builds.map(({ id }) => id)
  const { rows: found } = await sql<{ job_id: string; build_id: string }>`
    select l.job_id, b.id as build_id from builds b cross join lateral (${logsOf}) l
    where b.organization_id = ${orgId} and b.id = any (${ids}::uuid[]) limit ${logsAtOnce}`.execute(trx)
  if (found.length === 0) return []
  const jobIds = found.map(({ job_id }) => job_id)
  await sql`
    insert into job_logs (job_id, organization_id) select id, ${orgId} from unnest(${jobIds}::uuid[]) id
    on conflict (job_id) do nothing`.execute(trx)
  const { rows: locked } = await sql<{
    job_id: string
    blob_key: string | null
    rows_blob_key: string | null
    bytes: number
  }>`
    select l.job_id, l.blob_key, l.rows_blob_key,
      case when l.blob_key is null then 0 else l.size end
        + case when l.rows_blob_key is null then 0 else (l.rows_layout ->> 'size')::bigint end as bytes
    from job_logs l
    where l.organization_id = ${orgId} and l.job_id = any (${jobIds}::uuid[]) and l.deleted_at is null
    order by l.job_id for update`.execute(trx)
  const lockedIds = locked.map(({ job_id }) => job_id)
  await sql`
    update job_logs set deleted_at = now(), blob_key = null, size = 0, header_times = '{}', rows_blob_key = null,
      rows_layout = null
    where organization_id = ${orgId} and job_id = any (${lockedIds}::uuid[])`.execute(trx)
  await sql`delete from job_log_chunks where job_id = any (${lockedIds}::uuid[])`.execute(trx)
  await sql`delete from job_log_checkpoints where job_id = any (${lockedIds}::uuid[])`.execute(trx)
  await release(
    trx,
    locked.flatMap(({ blob_key, rows_blob_key }) => [blob_key ?? [], rows_blob_key ?? []].flat()),
  )
  const buildOf = new Map(found.map(({ job_id, build_id }) => [job_id, build_id]))
  const endOf = new Map(builds.map(({ id, finished_at }) => [id, finished_at]))
  return locked.map(({ job_id, bytes }) => ({
    finished_at: endOf.get(buildOf.get(job_id) ?? '') ?? '',
    bytes,
  }))
}

/** The same for logs of archived builds. */
export const expireArchivedLogs: Step = async ({ db }, { organizationId, pipelineId }, terms, report) => {
  const { rows } = await sql<{ finished_at: string; bytes: number }>`
    with ${policies({ organizationId, pipelineIds: [pipelineId] }, terms)},
    due as materialized (select a.* from policy p cross join lateral (${archivesWithDueLogs(archivesAtOnce)}) a),
    emptied as (update archived_builds a set logs = 0 from due where a.id = due.id),
    deleted as (
      delete from archived_logs l using due where l.build_id = due.id returning due.finished_at, l.size as bytes)
    select finished_at, bytes from deleted`.execute(db)
  for (const log of rows) addOne(report.logs, log)
  return rows.length > 0
}
