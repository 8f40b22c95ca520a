// Uploads one artifact to the address the server gave: as the last field of a form, or in parts.

import { randomBytes } from 'node:crypto'
import type {
  ArtifactFile,
  ArtifactStateEntry,
  UploadForm,
  UploadInstructions,
} from '@millrace/protocol/artifacts.ts'
import type { Api } from '../http/call.ts'
import { repeat } from '../http/retry.ts'
import { RETRIES } from '../http/retry-table.ts'
import { put, slice } from './put.ts'

/** A file of the job, described for the server. */
export interface LocalFile extends ArtifactFile {
  absolute_path: string
  sha256sum: string
  content_type: string
}

type SentParts = Pick<ArtifactStateEntry, 'multipart' | 'multipart_etags'>

export async function sendFile(
  api: Api,
  file: LocalFile,
  instructions: UploadInstructions,
): Promise<SentParts> {
  const { action, actions } = instructions
  if (actions && actions.length > 0) return await sendParts(api, file, actions)
  if (!action) throw new Error('the server gave no instructions for the upload')
  await repeat(RETRIES.artifactBytes, api, () => sendForm(file, action, instructions.data ?? {}, api.signal))
  return {}
}

async function sendParts(
  api: Api,
  file: LocalFile,
  actions: NonNullable<UploadInstructions['actions']>,
): Promise<SentParts> {
  const etags: NonNullable<SentParts['multipart_etags']> = []
  for (const [index, { url, method, part_number: partNumber }] of actions.entries()) {
    const start = Math.floor((file.file_size * index) / actions.length)
    const end = Math.floor((file.file_size * (index + 1)) / actions.length)
    const etag = await repeat(RETRIES.artifactBytes, api, async () => {
      const answer = await put({
        url: new URL(url),
        method,
        headers: { 'Content-Type': file.content_type },
        bytes: slice(file.absolute_path, start, end),
        size: end - start,
        signal: api.signal,
      })
      const tag = answer.headers.etag
      if (tag === undefined) throw new Error('the answer to a part has no ETag')
      return tag
    })
    etags.push({ part_number: partNumber, etag })
  }
  return actions.length > 1 ? { multipart: true, multipart_etags: etags } : {}
}

async function sendForm(
  file: LocalFile,
  action: UploadForm,
  data: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const boundary = `millrace-${randomBytes(16).toString('hex')}`
  const fields = Object.entries(data).map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"\r\n\r\n${value.replaceAll('${artifact:path}', () => file.path)}\r\n`,
  )
  const head = Buffer.from(
    `${fields.join('')}--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(action.file_input)}"; filename="${escapeName(file.path)}"\r\nContent-Type: ${file.content_type}\r\n\r\n`,
  )
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  const url = new URL(action.url)
  url.pathname = action.path
  await put({
    url,
    method: action.method,
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    bytes: form(),
    size: head.length + file.file_size + tail.length,
    signal,
  })

  async function* form(): AsyncGenerator<Buffer> {
    yield head
    yield* slice(file.absolute_path, 0, file.file_size)
    yield tail
  }
}

function escapeName(name: string): string {
  return name.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
