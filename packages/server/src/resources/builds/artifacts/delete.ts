import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { Caller } from '../../../auth/caller.ts'
import { release, deleteReleased } from '../../../blobs/unclaimed.ts'
import type { Context } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound } from '../../../lib/errors.ts'
import * as artifacts from './queries.ts'
import type { ArtifactRow, Leftover } from './queries.ts'

/** Deletes the artifact and its file. A file in the customer's own store stays. */
export async function deleteArtifact(
  ctx: Context,
  orgId: string,
  caller: Caller,
  { id, path, job_id }: Pick<ArtifactRow, 'id' | 'path' | 'job_id'>,
): Promise<void> {
  const leftover = await inTransaction(ctx.db, async (trx) => {
    const gone = await artifacts.markDeleted(trx, orgId, id)
    if (gone === undefined) throw notFound('No artifact found')
    await release(trx, keysOf([gone]))
    await recordAudit(trx, byCaller(caller), {
      organizationId: orgId,
      type: 'ARTIFACT_DELETED',
      subject: { type: 'Artifact', uuid: id, name: path },
      data: { job_id },
    })
    return gone
  })
  await deleteFiles(ctx, [leftover])
}

export const keysOf = (leftovers: readonly Leftover[]): string[] =>
  leftovers.flatMap(({ blob_key, upload }) => [blob_key ?? [], upload?.key ?? []].flat())

/** After the commit. A failed deletion stays listed and is repeated by deleteUnusedBlobs. */
export async function deleteFiles(ctx: Context, leftovers: readonly Leftover[]): Promise<void> {
  try {
    for (const { upload } of leftovers) {
      if (upload?.uploadId) await ctx.blobs.abortParts(upload.key, upload.uploadId)
    }
    await deleteReleased(ctx.db, ctx.blobs, keysOf(leftovers))
  } catch (error) {
    ctx.log.warn({ err: error }, 'Files of deleted artifacts could not be deleted yet.')
  }
}
