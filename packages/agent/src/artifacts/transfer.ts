// The bytes of one artifact, sent to where the server said: as the last field of a form, or in parts.

import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type {
  ArtifactFile,
  ArtifactStateEntry,
  UploadForm,
  UploadInstructions,
} from '@millrace/protocol/artifacts.ts'
import type { Api } from '../http/call.ts'
import { openRequest, readAll } from '../http/exchange.ts'
import type { Answer } from '../http/exchange.ts'
import { Refused, repeat } from '../http/retry.ts'
import { RETRIES } from '../http/retry-table.ts'
import { USER_AGENT } from '../version.ts'

export type SentParts = Pick<ArtifactStateEntry, 'multipart' | 'multipart_etags'>

const STALL_MS = 300_000
const MAX_ANSWER_BYTES = 1024 * 1024

export async function sendFile(
  api: Api,
  file: ArtifactFile,
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
  file: ArtifactFile,
  actions: NonNullable<UploadInstructions['actions']>,
): Promise<SentParts> {
  const etags: NonNullable<SentParts['multipart_etags']> = []
  for (const [index, { url, method, part_number: partNumber }] of actions.entries()) {
    const start = Math.floor((file.file_size * index) / actions.length)
    const end = Math.floor((file.file_size * (index + 1)) / actions.length)
    const etag = await repeat(RETRIES.artifactBytes, api, async () => {
      const answer = await put(
        new URL(url),
        method,
        file.content_type,
        slice(file.absolute_path, start, end),
        end - start,
        api.signal,
      )
      const tag = answer.headers.etag
      if (tag === undefined) throw new Error('the answer to a part has no ETag')
      return tag
    })
    etags.push({ part_number: partNumber, etag })
  }
  return actions.length > 1 ? { multipart: true, multipart_etags: etags } : {}
}

async function sendForm(
  file: ArtifactFile,
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
  await put(
    url,
    action.method,
    `multipart/form-data; boundary=${boundary}`,
    form(),
    head.length + file.file_size + tail.length,
    signal,
  )

  async function* form(): AsyncGenerator<Buffer> {
    yield head
    yield* slice(file.absolute_path, 0, file.file_size)
    yield tail
  }
}

async function* slice(path: string, start: number, end: number): AsyncGenerator<Buffer> {
  if (end > start) yield* createReadStream(path, { start, end: end - 1 }) as AsyncIterable<Buffer>
}

async function put(
  url: URL,
  method: string,
  type: string,
  bytes: AsyncIterable<Buffer>,
  size: number,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const request = openRequest(url, {
    method,
    headers: { 'User-Agent': USER_AGENT, 'Content-Type': type, 'Content-Length': size },
    ...(signal ? { signal } : {}),
  })
  request.setTimeout(STALL_MS, () => request.destroy(new Error('the upload stalled')))
  const answered = new Promise<Answer>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response) => {
      readAll(response, MAX_ANSWER_BYTES).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        reject,
      )
    })
  })
  const sent = pipeline(Readable.from(bytes), request)
  // An early refusal breaks the sending; the answer says why and is what counts.
  sent.catch(() => {})
  const answer = await answered
  if (answer.status < 200 || answer.status > 299) {
    throw new Refused(
      `${method} ${url.origin}${url.pathname}`,
      answer.status,
      answer.body.toString().slice(0, 200),
      null,
    )
  }
  await sent
  return answer
}

function escapeName(name: string): string {
  return name.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
