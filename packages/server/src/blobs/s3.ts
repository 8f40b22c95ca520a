// Objects in a bucket of an S3-compatible store. Bodies are streamed with their length and signed as UNSIGNED-PAYLOAD. Callers
// that know a hash of the contents check it.
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { AwsClient } from 'aws4fetch'
import type { S3Credentials, S3Settings } from '../config/storage.ts'
import { checkKey, exactly, SizeMismatch, storeFailed, type BlobStore, type DirectAccess } from './store.ts'

/** The store's own limit for one request. */
const mostBytes = 5 * 1024 ** 3
const retries = 3

/** A store that stands still for so long fails. A request whose bytes move may take as long as it needs. */
const stillMs = 30_000

export function s3Store(
  settings: S3Settings,
  credentials: S3Credentials,
  limits: { stillMs: number } = { stillMs },
): BlobStore {
  const { sessionToken, ...keys } = credentials
  const client = new AwsClient({
    ...keys,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    service: 's3',
    region: settings.region,
    retries,
  })
  const urlOf = (key: string, query: Record<string, string> = {}): string => {
    const url = new URL(`${bucketUrl(settings)}/${settings.prefix}${checkKey(key)}`)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    return url.href
  }

  /** null: the object or upload does not exist. */
  const call = async (
    method: string,
    url: string,
    init: { body?: string; headers?: Record<string, string> } = {},
  ): Promise<Response | null> => {
    const moving = watchMovement(limits.stillMs)
    const response = await client
      .fetch(url, { method, ...init, signal: moving.signal })
      .catch(failed)
      .finally(moving.pause)
    if (response.ok) return moving.watchBody(response)
    const text = await moving.watchBody(response).text().catch(failed)
    if (response.status === 404 && !text.includes('NoSuchBucket')) return null
    throw storeFailed(new Error(`${method} answered ${response.status}: ${text.slice(0, 500)}`))
  }

  /** Without retries, because a streamed body cannot be sent twice. */
  const send = async (url: string, body: Readable, size: number): Promise<Response> => {
    if (size > mostBytes) throw new SizeMismatch(mostBytes)
    const moving = watchMovement(limits.stillMs)
    const counted = body.pipe(exactly(size, moving.note))
    // An error of the body makes the request fail too, and is then thrown instead of a failure of the store.
    let bodyError: Error | undefined
    body.once('error', (error: Error) => {
      bodyError ??= error
      counted.destroy(error)
    })
    counted.once('error', (error: Error) => {
      bodyError ??= error
    })
    const signed = await client.sign(url, { method: 'PUT' })
    const headers = new Headers(signed.headers)
    headers.set('Content-Length', String(size))
    const response = await fetch(url, {
      method: 'PUT',
      headers,
      body: Readable.toWeb(counted),
      duplex: 'half',
      signal: moving.signal,
    })
      .catch((error: unknown) => {
        body.destroy()
        throw bodyError ?? storeFailed(error)
      })
      .finally(moving.pause)
    const text = await moving.watchBody(response).text().catch(failed)
    if (!response.ok) {
      body.destroy()
      throw storeFailed(new Error(`PUT answered ${response.status}: ${text.slice(0, 500)}`))
    }
    // The store has `size` bytes. Only now is it known whether the body ended there without an error.
    await finished(counted)
    return response
  }

  return {
    async put(key, body, size) {
      await send(urlOf(key), body, size)
    },
    async get(key, range) {
      const headers = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` }
      const response = await call('GET', urlOf(key), { headers })
      if (response === null) return null
      return response.body === null ? Readable.from([]) : Readable.fromWeb(response.body)
    },
    async head(key) {
      const response = await call('HEAD', urlOf(key))
      return response === null ? null : { size: Number(response.headers.get('Content-Length')) }
    },
    async delete(key) {
      await call('DELETE', urlOf(key))
    },

    async startParts(key) {
      const response = await call('POST', urlOf(key, { uploads: '' }))
      const uploadId = /<UploadId>([^<]+)</.exec((await response?.text()) ?? '')?.[1]
      if (uploadId === undefined) throw storeFailed(new Error('The store began an upload without an id.'))
      return unescapeXml(uploadId)
    },
    async putPart(key, uploadId, part, body, size) {
      const response = await send(urlOf(key, { partNumber: String(part), uploadId }), body, size)
      return response.headers.get('ETag') ?? ''
    },
    async completeParts(key, uploadId, parts) {
      const listed = [...parts].sort((a, b) => a.part - b.part)
      const xml = listed.map(
        ({ part, etag }) => `<Part><PartNumber>${part}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
      )
      const body = `<CompleteMultipartUpload>${xml.join('')}</CompleteMultipartUpload>`
      const response = await call('POST', urlOf(key, { uploadId }), { body })
      // A missing upload may have been completed by another request.
      if (response === null && (await this.head(key)) !== null) return
      // The store answers 200 before it has finished, so errors are in the body.
      const answer = (await response?.text()) ?? '<Error>No such upload</Error>'
      if (answer.includes('<Error>')) throw storeFailed(new Error(answer.slice(0, 500)))
    },
    async abortParts(key, uploadId) {
      await call('DELETE', urlOf(key, { uploadId }))
    },

    direct: settings.direct ? directAccess(client, urlOf) : null,
    // The store never shows incomplete objects, and its lifecycle rules delete abandoned parts.
    async tidy() {},
  }
}

const failed = (error: unknown): never => {
  throw storeFailed(error)
}

interface Movement {
  /** Aborted when nothing has moved for the time. */
  signal: AbortSignal
  /** Something has moved. */
  note(): void
  /** Nothing is expected from the store now. */
  pause(): void
  /** Waits for the store only while its body is being read: a reader may be slow. */
  watchBody(response: Response): Response
}

/** Expects something of the store from now on. */
function watchMovement(ms: number): Movement {
  const controller = new AbortController()
  const end = () => controller.abort(new Error(`The store stood still for ${ms / 1000} seconds.`))
  let timer = setTimeout(end, ms)
  const note = () => {
    clearTimeout(timer)
    timer = setTimeout(end, ms)
  }
  const pause = () => clearTimeout(timer)
  const watchBody = (response: Response): Response => {
    const reader = response.body?.getReader()
    if (reader === undefined) return response
    let isCanceled = false
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(queue) {
          note()
          const { done, value } = await reader.read().finally(pause)
          if (isCanceled) return
          if (done) queue.close()
          else queue.enqueue(value)
        },
        cancel(reason) {
          isCanceled = true
          return reader.cancel(reason)
        },
      },
      { highWaterMark: 0 },
    )
    return new Response(body, response)
  }
  return { signal: controller.signal, note, pause, watchBody }
}

function directAccess(
  client: AwsClient,
  urlOf: (key: string, query?: Record<string, string>) => string,
): DirectAccess {
  const presign = async (method: string, url: string, lifetimeSeconds: number) => {
    const limited = new URL(url)
    limited.searchParams.set('X-Amz-Expires', String(lifetimeSeconds))
    const signed = await client.sign(limited, { method, aws: { signQuery: true } })
    return signed.url
  }
  return {
    getUrl: (key, lifetimeSeconds, { contentType, disposition }) =>
      presign(
        'GET',
        urlOf(key, { 'response-content-type': contentType, 'response-content-disposition': disposition }),
        lifetimeSeconds,
      ),
    putUrl: (key, lifetimeSeconds) => presign('PUT', urlOf(key), lifetimeSeconds),
    putPartUrl: (key, uploadId, part, lifetimeSeconds) =>
      presign('PUT', urlOf(key, { partNumber: String(part), uploadId }), lifetimeSeconds),
  }
}

const bucketUrl = ({ endpoint, bucket, region }: S3Settings) =>
  endpoint === null ? `https://${bucket}.s3.${region}.amazonaws.com` : `${endpoint}/${bucket}`

const xmlEntities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escapeXml = (text: string) => text.replace(/[&<>"]/g, (character) => xmlEntities[character] ?? '')
const unescapeXml = (text: string) =>
  Object.entries(xmlEntities).reduceRight(
    (plain, [character, entity]) => plain.replaceAll(entity, character),
    text,
  )
