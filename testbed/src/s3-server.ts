// An S3 server with one bucket. Every request must have a valid signature (AWS Signature Version 4, in a header or in the query).
import { createHash, createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

export interface S3Server {
  endpoint: string
  objects: Map<string, Buffer>
  /** Answers every request late, or with an error. null: as it should. */
  disturb(disturbance: Disturbance | null): void
  close(): Promise<void>
}

export type Disturbance = { kind: 'slow'; ms: number } | { kind: 'unavailable' }

type Uploads = Map<string, { path: string; parts: Map<number, Buffer> }>

export const s3Keys = { accessKeyId: 'AKIDTEST', secretAccessKey: 'a secret that both sides know' }

/** The minimum size of every part but the last. */
const leastPartBytes = 5 * 1024 ** 2

class Refusal extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string) {
    super(code)
    this.status = status
    this.code = code
  }
}

export async function startS3(bucket: string): Promise<S3Server> {
  const objects: S3Server['objects'] = new Map()
  const uploads: Uploads = new Map()
  let disturbance: Disturbance | null = null
  const answerLate = async (request: IncomingMessage) => {
    const given = await answer(request, { bucket, objects, uploads })
    if (disturbance?.kind === 'slow') await delay(disturbance.ms)
    return given
  }
  const server = createServer((request, response) => {
    if (disturbance?.kind === 'unavailable') return refuse(response, new Refusal(503, 'SlowDown'))
    answerLate(request).then(
      ({ status, headers, body }) =>
        response.writeHead(status, headers).end(request.method === 'HEAD' ? '' : body),
      (error: unknown) => refuse(response, error),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}`,
    objects,
    disturb(wanted) {
      disturbance = wanted
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

interface Bucket {
  bucket: string
  objects: S3Server['objects']
  uploads: Uploads
}

interface Given {
  status: number
  headers: Record<string, string>
  body: Buffer | string
}

async function answer(request: IncomingMessage, { bucket, objects, uploads }: Bucket): Promise<Given> {
  const url = new URL(request.url ?? '/', 'http://x')
  checkSignature(request, url)
  const body = await readBody(request)
  const hash = request.headers['x-amz-content-sha256']
  if (typeof hash === 'string' && hash !== 'UNSIGNED-PAYLOAD' && hash !== sha256(body)) {
    throw new Refusal(400, 'XAmzContentSHA256Mismatch')
  }
  if (!url.pathname.startsWith(`/${bucket}/`)) throw new Refusal(404, 'NoSuchBucket')
  const path = decodeURIComponent(url.pathname.slice(bucket.length + 2))
  const uploadId = url.searchParams.get('uploadId')
  if (request.method === 'POST' && url.searchParams.has('uploads')) {
    const id = randomUUID()
    uploads.set(id, { path, parts: new Map() })
    return xml(
      200,
      `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
    )
  }
  if (uploadId !== null) return partOf(request.method, { objects, uploads }, { path, uploadId, url, body })
  switch (request.method) {
    case 'PUT':
      objects.set(path, body)
      return { status: 200, headers: { ETag: etag(body) }, body: '' }
    case 'DELETE':
      objects.delete(path)
      return { status: 204, headers: {}, body: '' }
    case 'GET':
    case 'HEAD': {
      const found = objects.get(path)
      if (found === undefined) throw new Refusal(404, 'NoSuchKey')
      return slice(found, request.headers.range, url)
    }
    case undefined:
    default:
      throw new Refusal(405, 'MethodNotAllowed')
  }
}

function partOf(
  method: string | undefined,
  { objects, uploads }: Pick<Bucket, 'objects' | 'uploads'>,
  { path, uploadId, url, body }: { path: string; uploadId: string; url: URL; body: Buffer },
): Given {
  const upload = uploads.get(uploadId)
  if (upload === undefined || upload.path !== path) throw new Refusal(404, 'NoSuchUpload')
  if (method === 'PUT') {
    upload.parts.set(Number(url.searchParams.get('partNumber')), body)
    return { status: 200, headers: { ETag: etag(body) }, body: '' }
  }
  if (method === 'DELETE') {
    uploads.delete(uploadId)
    return { status: 204, headers: {}, body: '' }
  }
  const listed = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag>/g)]
  const parts = listed.map(([, number, tag]) => {
    const part = upload.parts.get(Number(number))
    if (part === undefined || etag(part) !== tag?.replaceAll('&quot;', '"'))
      throw new Refusal(400, 'InvalidPart')
    return part
  })
  if (parts.slice(0, -1).some(({ length }) => length < leastPartBytes))
    throw new Refusal(400, 'EntityTooSmall')
  uploads.delete(uploadId)
  objects.set(path, Buffer.concat(parts))
  return xml(200, '<CompleteMultipartUploadResult></CompleteMultipartUploadResult>')
}

function slice(found: Buffer, range: string | undefined, url: URL): Given {
  const headers: Record<string, string> = {
    'Content-Type': url.searchParams.get('response-content-type') ?? 'binary/octet-stream',
    'Content-Disposition': url.searchParams.get('response-content-disposition') ?? '',
  }
  if (range === undefined)
    return { status: 200, headers: { ...headers, 'Content-Length': String(found.length) }, body: found }
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? []
  if (start === undefined || Number(start) >= found.length) throw new Refusal(416, 'InvalidRange')
  return { status: 206, headers, body: found.subarray(Number(start), Number(end) + 1) }
}

/** Computes the signature of the request and compares it. */
function checkSignature(request: IncomingMessage, url: URL): void {
  const inQuery = url.searchParams.has('X-Amz-Signature')
  const header = request.headers.authorization ?? ''
  if (inQuery && header !== '') throw new Refusal(400, 'InvalidArgument')
  const read = (name: string) =>
    inQuery
      ? (url.searchParams.get(`X-Amz-${name}`) ?? '')
      : (new RegExp(`${name}=([^, ]+)`).exec(header)?.[1] ?? '')
  const [accessKey, day, region, service, end] = read('Credential').split('/')
  if (accessKey !== s3Keys.accessKeyId || service !== 's3' || end !== 'aws4_request') {
    throw new Refusal(403, 'InvalidAccessKeyId')
  }
  const time = inQuery ? read('Date') : String(request.headers['x-amz-date'])
  const at = Date.parse(time.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  const lifetimeMs = inQuery ? Number(read('Expires')) * 1000 : 15 * 60_000
  if (!(Math.abs(Date.now() - at) <= lifetimeMs) || !time.startsWith(day ?? '?')) {
    throw new Refusal(403, 'AccessDenied')
  }
  const signedHeaders = read('SignedHeaders').split(';')
  if (!signedHeaders.includes('host')) throw new Refusal(403, 'SignatureDoesNotMatch')
  const expected = signatureOf({
    method: request.method ?? '',
    url,
    headers: Object.fromEntries(signedHeaders.map((name) => [name, String(request.headers[name])])),
    payload: inQuery ? 'UNSIGNED-PAYLOAD' : String(request.headers['x-amz-content-sha256']),
    time,
    region: region ?? '',
    secret: s3Keys.secretAccessKey,
  })
  if (expected !== read('Signature')) throw new Refusal(403, 'SignatureDoesNotMatch')
}

interface Signed {
  method: string
  url: URL
  /** The signed headers, sorted by name. */
  headers: Record<string, string>
  payload: string
  time: string
  region: string
  secret: string
}

/** AWS Signature Version 4, implemented from its specification and independent of our client. */
export function signatureOf({ method, url, headers, payload, time, region, secret }: Signed): string {
  const names = Object.keys(headers)
  const canonical = [
    method,
    url.pathname
      .split('/')
      .map((part) => encode(decodeURIComponent(part)))
      .join('/'),
    [...url.searchParams]
      .filter(([name]) => name !== 'X-Amz-Signature')
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .sort((a, b) => (a < b ? -1 : 1))
      .join('&'),
    ...names.map((name) => `${name}:${headers[name]?.trim().replace(/\s+/g, ' ')}`),
    '',
    names.join(';'),
    payload,
  ].join('\n')
  const day = time.slice(0, 8)
  const scope = `${day}/${region}/s3/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const key = [region, 's3', 'aws4_request'].reduce<Buffer>(hmac, hmac(`AWS4${secret}`, day))
  return hmac(key, toSign).toString('hex')
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  if (request.method === 'PUT' && request.headers['content-length'] === undefined) {
    throw new Refusal(411, 'MissingContentLength')
  }
  const pieces: Buffer[] = []
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece)
  return Buffer.concat(pieces)
}

function refuse(response: ServerResponse, error: unknown): void {
  const { status, code } = error instanceof Refusal ? error : { status: 400, code: 'IncompleteBody' }
  if (response.destroyed) return
  response.writeHead(status, { 'Content-Type': 'application/xml', Connection: 'close' })
  response.end(`<Error><Code>${code}</Code></Error>`)
}

const xml = (status: number, body: string): Given => ({
  status,
  headers: { 'Content-Type': 'application/xml' },
  body,
})
const sha256 = (body: Buffer | string) => createHash('sha256').update(body).digest('hex')
const etag = (body: Buffer) => `"${createHash('md5').update(body).digest('hex')}"`
const hmac = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text).digest()
const encode = (text: string) =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
