// Reads artifacts as JUnit: those that the job's step names in `test_results`, for agents that do not send them, and those that
// its pipeline names in `junit_artifacts`. An artifact that is no JUnit stays an artifact.
import { sql } from 'kysely'
import { compileGlob } from '@millrace/engine/globs.ts'
import { patternsIn } from '@millrace/engine/steps/attributes/test-results.ts'
import type { Context } from '../../../context.ts'
import type { Db } from '../../../db/pool.ts'
import { ApiError } from '../../../lib/errors.ts'
import { mostUploadBytes } from '../../tests/test_runs/read-report.ts'
import { storeReport } from '../../tests/test_runs/store.ts'
import { findInJob, type StoredArtifact } from './queries.ts'

type IsTestReport = (path: string) => boolean

export async function testReportsOf(db: Db, orgId: string, jobId: string): Promise<IsTestReport> {
  const { rows } = await sql<{ named: string[] | null; found: string | null }>`
    select j.work -> 'testResults' as named, p.junit_artifacts as found
    from jobs j join pipelines p on p.id = j.pipeline_id
    where j.organization_id = ${orgId} and j.id = ${jobId}`.execute(db)
  const patterns = rows.flatMap(({ named, found }) => [...(named ?? []), ...patternsIn(found ?? '')])
  const matchers = patterns.flatMap((pattern) => compileGlob(pattern.replace(/^(\.\/)+/, '')) ?? [])
  return (path) => matchers.some((matches) => matches(path))
}

/** The file must be stored. Safe to repeat. */
export async function readTestResults(
  ctx: Context,
  { organization_id: orgId, job_id: jobId, id, path, file_size: size }: StoredArtifact,
): Promise<void> {
  if (size > mostUploadBytes) return
  const key = (await findInJob(ctx.db, orgId, jobId, id))?.blob_key
  const body = key ? await ctx.blobs.get(key) : null
  if (body === null) return
  const pieces: Buffer[] = []
  for await (const piece of body) pieces.push(piece as Buffer)
  try {
    await storeReport(ctx, orgId, {
      jobId,
      path,
      format: 'junit',
      contentEncoding: '',
      bytes: Buffer.concat(pieces),
    })
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    ctx.log.info(
      { artifact: id, job: jobId, reason: error.message },
      'An artifact is not read as test results.',
    )
  }
}
