// Uploads files of a job: announces them in batches, sends several at a time, then reports them.

import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import type { ArtifactBatchResponse, ArtifactStateEntry } from '@millrace/protocol/artifacts.ts'
import { createArtifacts, reportArtifacts } from '../api/artifacts.ts'
import type { Api } from '../http/call.ts'
import { contentTypeOf } from './content-type.ts'
import { digestFile } from './digest.ts'
import { findFiles } from './find.ts'
import type { FoundFile } from './find.ts'
import { objectUrl, openS3, putObject } from './s3.ts'
import type { S3Destination, Variables } from './s3.ts'
import { sendFile, type LocalFile } from './transfer.ts'

interface UploadOptions {
  jobId: string
  /** Separated by semicolons. */
  patterns: string
  folder: string
  /** Empty: the server's store. Otherwise a bucket, such as `s3://bucket/folder`. */
  destination: string
  /** Where the credentials of a bucket are. */
  env: Variables
  /** Absent: by the file's name. */
  contentType?: string
  say: (line: string) => void
}

const BATCH = 30

/** Uploads all files even if some fail, then throws. Returns the number of files. */
export async function uploadArtifacts(api: Api, options: UploadOptions): Promise<number> {
  const { patterns, folder, destination, env, say } = options
  const bucket = destination === '' ? null : await openS3(destination, env)
  const files = await findFiles(patterns, folder)
  if (files.length === 0) {
    say(`No files match ${patterns}`)
    return 0
  }
  say(`Uploading ${files.length} ${files.length === 1 ? 'file' : 'files'}`)
  let failed = 0
  for (let start = 0; start < files.length; start += BATCH) {
    failed += await uploadBatch(api, options, bucket, files.slice(start, start + BATCH))
  }
  if (failed > 0) throw new Error(`${failed} of ${files.length} artifacts could not be uploaded`)
  return files.length
}

async function uploadBatch(
  api: Api,
  options: UploadOptions,
  bucket: S3Destination | null,
  found: readonly FoundFile[],
): Promise<number> {
  const { jobId, destination, say } = options
  const artifacts = await inParallel(found, async (file) => ({
    ...(await describe(file, options.contentType)),
    ...(bucket === null ? {} : { url: objectUrl(bucket, file.path).href }),
  }))
  const batch = await createArtifacts(api, jobId, {
    id: randomUUID(),
    upload_destination: destination,
    multipart_supported: true,
    artifacts,
  })
  const numbered = artifacts.map((file, index) => ({ file, id: batch.artifact_ids[index] ?? '' }))
  if (batch.artifact_ids.length !== artifacts.length)
    throw new Error('the server numbered the artifacts wrongly')
  const states = await inParallel(numbered, async ({ file, id }): Promise<ArtifactStateEntry> => {
    try {
      const sent =
        bucket === null
          ? await sendFile(api, file, instructionsFor(batch, id))
          : await putObject(api, bucket, file)
      say(`  ${file.path} (${file.file_size} bytes)`)
      return { id, state: 'finished', ...sent }
    } catch (error) {
      say(`  ${file.path} failed: ${error instanceof Error ? error.message : String(error)}`)
      return { id, state: 'error' }
    }
  })
  await reportArtifacts(api, jobId, states)
  return states.filter(({ state }) => state === 'error').length
}

async function describe(
  { path, absolutePath }: FoundFile,
  contentType: string | undefined,
): Promise<LocalFile> {
  const { size, sha1, sha256 } = await digestFile(absolutePath)
  return {
    path,
    absolute_path: absolutePath,
    file_size: size,
    sha1sum: sha1,
    sha256sum: sha256,
    content_type: contentType ?? contentTypeOf(path),
  }
}

function instructionsFor(batch: ArtifactBatchResponse, id: string) {
  return batch.per_artifact_instructions?.[id] ?? batch.upload_instructions ?? {}
}

/** As many at a time as there are processors; results in the order of the items. */
export async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const queue = items.entries()
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(items.length, availableParallelism()) }, worker))
  return results
}
