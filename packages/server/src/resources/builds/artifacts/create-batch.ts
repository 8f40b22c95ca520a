// Creates artifacts for announced files, and answers where to upload each file.
import { issueTicket } from '../../../auth/tickets.ts'
import type { ArtifactBatchResponse, UploadInstructions } from '@millrace/protocol/artifacts.ts'
import { announce, release } from '../../../blobs/unclaimed.ts'
import type { Context } from '../../../context.ts'
import { forbidden, notFound, refused } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import * as artifacts from './queries.ts'
import type { NewArtifact, StoredArtifact, Upload } from './queries.ts'
import { pathProblem } from './rules.ts'
import { uploadSeconds } from './tickets.ts'
import { newBlobKey } from './upload.ts'

interface Batch {
  id: string
  destination: string
  /** Whether the sender can upload in parts, or without a form. */
  multipart: boolean
  files: ReadonlyArray<Omit<NewArtifact, 'id' | 'upload_destination'>>
}

const mostFiles = 5000
const mostFileBytes = 10 * 1024 ** 3
const mostJobBytes = 50 * 1024 ** 3

/** Idempotent: a repeated batch gets the same ids. */
export async function createBatch(
  ctx: Context,
  orgId: string,
  jobId: string,
  batch: Batch,
): Promise<ArtifactBatchResponse> {
  const buildId = await artifacts.findBuildOfJob(ctx.db, orgId, jobId)
  if (buildId === undefined) throw notFound('No job found')
  const known = await artifacts.listBatch(ctx.db, orgId, jobId, batch.id)
  if (known.length === 0 && batch.files.length > 0) {
    await checkLimits(ctx, orgId, jobId, batch)
    const rows = batch.files.map((file) => ({ ...file, id: newId(), upload_destination: batch.destination }))
    await artifacts.insertBatch(ctx.db, { organizationId: orgId, buildId, jobId }, batch.id, rows)
  }
  const rows = known.length > 0 ? known : await artifacts.listBatch(ctx.db, orgId, jobId, batch.id)
  if (rows.length !== batch.files.length) throw refused('The batch was announced before, with other files.')
  const ids = rows.map(({ id }) => id)
  if (batch.destination !== '') return { id: batch.id, artifact_ids: ids }
  const instructions: Record<string, UploadInstructions> = {}
  for (const row of rows)
    instructions[row.id] = batch.multipart ? await instructParts(ctx, row) : formInstructions(ctx, row.id)
  return { id: batch.id, artifact_ids: ids, per_artifact_instructions: instructions }
}

async function checkLimits(
  ctx: Context,
  orgId: string,
  jobId: string,
  { files, destination }: Batch,
): Promise<void> {
  for (const { path } of files) {
    const problem = pathProblem(path)
    if (problem !== null) throw refused(`The artifact path ${JSON.stringify(path.slice(0, 200))} ${problem}.`)
  }
  const before = await artifacts.countOfJob(ctx.db, orgId, jobId)
  if (before.files + files.length > mostFiles) {
    throw forbidden(`A job may have at most ${mostFiles} artifacts.`)
  }
  if (destination !== '') return
  if (files.some(({ file_size }) => file_size > mostFileBytes)) {
    throw forbidden('An artifact may have at most 10 GiB.')
  }
  if (files.reduce((sum, { file_size }) => sum + file_size, before.bytes) > mostJobBytes) {
    throw forbidden('The artifacts of a job may have at most 50 GiB together.')
  }
}

async function instructParts(ctx: Context, row: StoredArtifact): Promise<UploadInstructions> {
  const upload = await planUpload(ctx, row)
  if (upload === null) return formInstructions(ctx, row.id)
  const parts = Array.from({ length: upload.parts }, async (_, index) => ({
    url: await partUrl(ctx, row.id, upload, index + 1),
    method: 'PUT',
    part_number: index + 1,
  }))
  return { actions: await Promise.all(parts) }
}

function formInstructions(ctx: Context, id: string): UploadInstructions {
  const { origin, pathname } = new URL(`${ctx.config.url}/v3/uploads`)
  return {
    data: { artifact_id: id, ticket: issueTicket(ctx, 'upload', id, uploadSeconds) },
    action: { url: origin, method: 'POST', path: pathname, file_input: 'file' },
  }
}

async function partUrl(ctx: Context, id: string, { key, uploadId }: Upload, part: number): Promise<string> {
  const { direct } = ctx.blobs
  if (direct !== null && uploadId !== null) return direct.putPartUrl(key, uploadId, part, uploadSeconds)
  if (direct !== null) return direct.putUrl(key, uploadSeconds)
  const ticket = issueTicket(ctx, 'part', `${id} ${part}`, uploadSeconds)
  return `${ctx.config.url}/v3/uploads/${id}/parts/${part}?ticket=${ticket}`
}

/** The existing upload, or a new one; null: the file is uploaded with a form. */
async function planUpload(ctx: Context, row: StoredArtifact): Promise<Upload | null> {
  if (row.upload !== null) return row.upload
  const parts = Math.ceil(row.file_size / ctx.config.artifactPartBytes)
  if (row.state !== 'new' || (parts < 2 && ctx.blobs.direct === null)) return null
  const key = newBlobKey(row)
  await announce(ctx.db, key)
  const uploadId = parts < 2 ? null : await ctx.blobs.startParts(key)
  const upload = { key, uploadId, parts: Math.max(parts, 1) }
  if (await artifacts.beginUpload(ctx.db, row.id, upload)) return upload
  await release(ctx.db, [key])
  if (uploadId !== null) await ctx.blobs.abortParts(key, uploadId)
  return (await artifacts.findSigned(ctx.db, row.id))?.upload ?? null
}
