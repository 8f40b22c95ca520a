// Deletes builds with all their rows. A build is written to the blob store first, complete and durable; the transaction that
// deletes it refers to that object, and does so only if the build is as it was when it was written. So a worker may die at
// any point: until the commit the build is there, and an object that nothing refers to is deleted later.
import { sql } from 'kysely'
import { claimAll } from '../../../blobs/unclaimed.ts'
import { deleteEndedBuilds, lockToDelete } from '../../../conductor/delete-builds.ts'
import { listKeptOrigins } from '../../../conductor/trust.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import * as archives from '../archived_builds/archive.ts'
import { add, addOne, emptyReport, type Report } from './report.ts'
import {
  artifactsOf,
  dueArchives,
  dueBuilds,
  logsOf,
  overdueBuilds,
  policies,
  type Position,
  type Terms,
} from './selection.ts'
import type { PipelineAddress, Step } from './step.ts'

const buildsAtOnce = 25
/** All rows of a build's jobs are deleted with it. A build with more is alone in its batch. */
const jobsAtOnce = 250

interface DueBuild extends Position {
  is_archived: boolean
  keeps_logs: boolean
}

/**
 * Begins with the build that ended first. A build that cannot be deleted now is left for the next run. So are builds that only
 * this run's deletions made due, because the preview has not counted them: they are in `released`, which a run shares.
 */
export function buildExpirer(released: Set<string>): Step {
  let after: Position | null = null
  return async (work, pipeline, terms, report) => {
    const { seen, due: found, hasMore } = await listDue(work.db, pipeline, terms, after)
    after = seen
    const due = found.filter(({ id }) => !released.has(id))
    if (due.length === 0) return hasMore
    const written = await archives.writeArchives(
      work,
      pipeline.organizationId,
      due.filter(({ is_archived }) => is_archived).map(({ id }) => id),
    )
    const deleted = await inTransaction(work.db, (trx) => deleteSome(trx, pipeline, terms, due, written))
    for (const kind of ['builds', 'logs', 'artifacts'] as const) add(report[kind], deleted.report[kind])
    for (const id of deleted.origins) released.add(id)
    return hasMore
  }
}

interface Batch {
  /** The last build that was looked at. */
  seen: Position | null
  due: DueBuild[]
  hasMore: boolean
}

async function listDue(
  db: Db,
  { organizationId, pipelineId }: PipelineAddress,
  terms: Terms,
  after: Position | null,
): Promise<Batch> {
  const { rows } = await sql<DueBuild & { is_due: boolean; jobs: number }>`
    with ${policies({ organizationId, pipelineIds: [pipelineId] }, terms)}
    select b.id, b.finished_at, b.is_archived, b.keeps_logs, b.is_due, coalesce(t.jobs, 0) as jobs
    from policy p cross join lateral (${overdueBuilds({ after, limit: buildsAtOnce })}) b
    left join build_tallies t on t.build_id = b.id
    order by b.finished_at, b.id`.execute(db)
  const batch: Batch = { seen: after, due: [], hasMore: rows.length === buildsAtOnce }
  let jobs = 0
  for (const build of rows) {
    if (build.is_due) jobs += build.jobs
    if (build.is_due && batch.due.length > 0 && jobs > jobsAtOnce) return { ...batch, hasMore: true }
    if (build.is_due) batch.due.push(build)
    batch.seen = build
  }
  return batch
}

async function deleteSome(
  trx: Trx,
  pipeline: PipelineAddress,
  terms: Terms,
  found: readonly DueBuild[],
  written: readonly archives.WrittenArchive[],
): Promise<{ report: Report; origins: string[] }> {
  const { organizationId, pipelineId } = pipeline
  const locked = await lockToDelete(
    trx,
    organizationId,
    found.map(({ id }) => id),
  )
  // Other transactions may have committed since the builds were found and written. None can while they are locked.
  const { rows: due } = await sql<DueBuild>`
    with ${policies({ organizationId, pipelineIds: [pipelineId] }, terms)}
    select b.id, b.finished_at, b.is_archived, b.keeps_logs
    from policy p cross join lateral (${dueBuilds({ after: null, limit: null, ids: locked })}) b`.execute(trx)
  const versions = await archives.versionsOf(trx, organizationId, locked)
  const archived = written.filter(({ id, version }) => versions.get(id) === version)
  const going = due.filter(({ id, is_archived }) => !is_archived || archived.some((one) => one.id === id))
  const kept = archived.filter(({ id }) => going.some((one) => one.id === id && one.is_archived))
  const report = await countGoing(trx, organizationId, going)
  if (kept.length > 0) {
    const keepingLogs = going.filter(({ keeps_logs }) => keeps_logs).map(({ id }) => id)
    await archives.storeArchives(trx, organizationId, kept, keepingLogs)
    await claimAll(
      trx,
      kept.map(({ key }) => key),
    )
  }
  const ids = going.map(({ id }) => id)
  const origins = await listKeptOrigins(trx, organizationId, ids)
  await deleteEndedBuilds(trx, organizationId, ids)
  return { report, origins }
}

/** What goes with these builds, as the preview counts it. */
async function countGoing(trx: Trx, orgId: string, going: readonly DueBuild[]): Promise<Report> {
  const report = emptyReport()
  const ids = going.map(({ id }) => id)
  const keeping = going.filter(({ keeps_logs }) => keeps_logs).map(({ id }) => id)
  const { rows } = await sql<{ kind: 'kept_log' | 'log' | 'artifact'; build_id: string; bytes: number }>`
    with b as materialized (
      select id, organization_id, id = any (${keeping}::uuid[]) as keeps_logs from builds
      where organization_id = ${orgId} and id = any (${ids}::uuid[]))
    select case when b.keeps_logs then 'kept_log' else 'log' end as kind, b.id as build_id,
      case when b.keeps_logs then l.rows_bytes else l.bytes end as bytes
    from b cross join lateral (${logsOf}) l
    union all
    select 'artifact', b.id, f.bytes from b cross join lateral (${artifactsOf}) f`.execute(trx)
  for (const build of going) {
    const own = rows.filter(({ build_id }) => build_id === build.id)
    const bytes = own.filter(({ kind }) => kind === 'kept_log').reduce((sum, row) => sum + row.bytes, 0)
    addOne(report.builds, { finished_at: build.finished_at, bytes })
    for (const row of own) {
      if (row.kind === 'kept_log') continue
      addOne(report[row.kind === 'log' ? 'logs' : 'artifacts'], {
        finished_at: build.finished_at,
        bytes: row.bytes,
      })
    }
  }
  return report
}

const archivesAtOnce = 25

/** Deletes archives and the logs that they kept. */
export const expireArchives: Step = async ({ db }, { organizationId, pipelineId }, terms, report) => {
  const { rows } = await sql<{ finished_at: string; size: number; logs: number[] }>`
    with ${policies({ organizationId, pipelineIds: [pipelineId] }, terms)},
    due as materialized (select a.* from policy p cross join lateral (${dueArchives(archivesAtOnce)}) a)
    delete from archived_builds a using due where a.id = due.id
    returning due.finished_at, due.size, (
      select coalesce(json_agg(l.size), '[]') from archived_logs l where l.build_id = due.id) as logs`.execute(
    db,
  )
  for (const { finished_at, size, logs } of rows) {
    addOne(report.archived_builds, { finished_at, bytes: size })
    for (const bytes of logs) addOne(report.logs, { finished_at, bytes })
  }
  return rows.length === archivesAtOnce
}
