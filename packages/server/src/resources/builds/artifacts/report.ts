// Handles agents' reports on their uploads. An artifact is finished if its file is stored and matches the announcement. Otherwise
// it is an error, even if the agent reports success.
import type { ArtifactStateEntry } from '@millrace/protocol/artifacts.ts'
import type { Context } from '../../../context.ts'
import * as artifacts from './queries.ts'
import type { StoredArtifact, Upload } from './queries.ts'
import { readTestResults, testReportsOf } from './read-test-results.ts'
import { adoptVerified, deleteBlob } from './upload.ts'

/** Idempotent. Skips artifacts that were deleted meanwhile. */
export async function reportStates(
  ctx: Context,
  orgId: string,
  jobId: string,
  entries: readonly ArtifactStateEntry[],
): Promise<void> {
  const isTestReport = await testReportsOf(ctx.db, orgId, jobId)
  for (const entry of entries) {
    const artifact = await artifacts.findInJob(ctx.db, orgId, jobId, entry.id)
    if (artifact === undefined || artifact.state === 'finished' || artifact.state === 'expired') continue
    const isStored = entry.state === 'finished' && (await completeUpload(ctx, artifact, entry))
    // Before the state: an agent that got no answer repeats its report.
    if (isStored && isTestReport(artifact.path)) await readTestResults(ctx, artifact)
    if (isStored) await finish(ctx, artifact)
    else await fail(ctx, artifact)
  }
}

async function finish(ctx: Context, { id, file_size: size }: StoredArtifact): Promise<void> {
  await artifacts.markFinished(ctx.db, id)
  ctx.metrics.artifacts.inc()
  ctx.metrics.artifactBytes.inc(size)
}

async function fail(ctx: Context, { id, upload }: StoredArtifact): Promise<void> {
  await artifacts.endUpload(ctx.db, id)
  if (upload === null) return
  if (upload.uploadId !== null) await ctx.blobs.abortParts(upload.key, upload.uploadId)
  await deleteBlob(ctx, upload.key)
}

/** False: the file is not stored, or differs from the announcement. */
async function completeUpload(
  ctx: Context,
  artifact: StoredArtifact,
  entry: ArtifactStateEntry,
): Promise<boolean> {
  if (artifact.upload_destination !== '' || artifact.blob_key !== null) return true
  const { upload } = artifact
  if (upload === null) return false
  if (upload.uploadId !== null && !(await completeParts(ctx, upload, upload.uploadId, entry))) return false
  return adoptVerified(ctx, artifact, upload.key)
}

async function completeParts(
  ctx: Context,
  { key, parts }: Upload,
  uploadId: string,
  { multipart_etags }: ArtifactStateEntry,
): Promise<boolean> {
  const tags = new Map(multipart_etags?.map(({ part_number, etag }) => [part_number, etag]))
  const listed = Array.from({ length: parts }, (_, index) => ({
    part: index + 1,
    etag: tags.get(index + 1) ?? '',
  }))
  if (listed.some(({ etag }) => etag === '')) return false
  await ctx.blobs.completeParts(key, uploadId, listed)
  return true
}
