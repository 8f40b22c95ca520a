// What agents say of the files they have sent. What is here and is what was announced is finished, whatever else
// happened; what is not is an error, also where the agent believes otherwise.
import type { ArtifactStateEntry } from '@millrace/protocol/artifacts.ts'
import type { Context } from '../../context.ts'
import * as artifacts from './queries.ts'
import type { StoredArtifact, Upload } from './queries.ts'
import { adoptVerified, discard } from './upload.ts'

/** Said again, it changes nothing. Artifacts that were deleted meanwhile are passed over. */
export async function reportStates(
  ctx: Context,
  orgId: string,
  jobId: string,
  entries: readonly ArtifactStateEntry[],
): Promise<void> {
  for (const entry of entries) {
    const artifact = await artifacts.findInJob(ctx.db, orgId, jobId, entry.id)
    if (artifact === undefined || artifact.state === 'finished' || artifact.state === 'expired') continue
    const isHere = entry.state === 'finished' && (await settle(ctx, artifact, entry))
    if (isHere) await artifacts.markFinished(ctx.db, artifact.id, ctx.config.artifactDays)
    else await fail(ctx, artifact)
  }
}

async function fail(ctx: Context, { id, upload }: StoredArtifact): Promise<void> {
  await artifacts.endUpload(ctx.db, id)
  if (upload === null) return
  if (upload.uploadId !== null) await ctx.blobs.abortParts(upload.key, upload.uploadId)
  await discard(ctx, upload.key)
}

/** Whether the file is where it belongs. */
async function settle(ctx: Context, artifact: StoredArtifact, entry: ArtifactStateEntry): Promise<boolean> {
  if (artifact.upload_destination !== '' || artifact.blob_key !== null) return true
  const { upload } = artifact
  if (upload === null) return false
  if (upload.uploadId !== null && !(await complete(ctx, upload, upload.uploadId, entry))) return false
  return adoptVerified(ctx, artifact, upload.key)
}

async function complete(
  ctx: Context,
  { key, parts }: Upload,
  uploadId: string,
  { multipart_etags = [] }: ArtifactStateEntry,
): Promise<boolean> {
  const tags = new Map(multipart_etags.map(({ part_number, etag }) => [part_number, etag]))
  const listed = Array.from({ length: parts }, (_, index) => ({
    part: index + 1,
    etag: tags.get(index + 1) ?? '',
  }))
  if (listed.some(({ etag }) => etag === '')) return false
  await ctx.blobs.completeParts(key, uploadId, listed)
  return true
}
