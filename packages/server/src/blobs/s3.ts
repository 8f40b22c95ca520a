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

export function s3Store(settings: S3Settings, credentials: S3Credentials): BlobStore {
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
    const response = await client.fetch(url, { method, ...init }).catch((error: unknown) => {
      throw storeFailed(error)
    })
    if (response.ok) return response
    const text = await response.text()
    if (response.status === 404 && !text.includes('NoSuchBucket')) return null
    throw storeFailed(new Error(`${method} answered ${response.status}: ${text.slice(0, 500)}`))
  }

  /** Without retries, because a streamed body cannot be sent twice. */
  const send = async (url: string, body: Readable, size: number): Promise<Response> => {
    if (size > mostBytes) throw new SizeMismatch(mostBytes)
    const counted = body.pipe(exactly(size))
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
    }).catch((error: unknown) => {
      throw bodyError ?? storeFailed(error)
    })
    const text = await response.text()
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
