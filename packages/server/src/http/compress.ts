// Compresses large JSON responses in zlib's threads, with what the client accepts. @fastify/compress streams every response, so
// a compressed one would have no Content-Length.
import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib'
import type { FastifyInstance } from 'fastify'

const fromBytes = 8192
const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

/** JSON in chunks belongs to large objects, so it is compressed without knowing its length. Other streams are sent as they are. */
export function compressJson(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const isStream = payload instanceof Readable
    if (!isStream && typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
    const isJson = String(reply.getHeader('content-type')).startsWith('application/json')
    if (!isJson || reply.hasHeader('content-encoding')) return payload
    if (!isStream && payload.length < fromBytes) return payload
    void reply.header('Vary', 'Accept-Encoding')
    const encoding = acceptedEncoding(request.headers['accept-encoding'])
    if (encoding === null) return payload
    void reply.header('Content-Encoding', encoding)
    if (isStream) {
      void reply.removeHeader('content-length')
      // An error destroys both streams, and with them the connection.
      return pipeline(payload, compressor[encoding](), () => {})
    }
    const compressed = await compress[encoding](payload)
    void reply.header('Content-Length', compressed.length)
    return compressed
  })
}

const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }
const gzipOptions = { level: 5 }

const compress = {
  br: (payload: string | Buffer): Promise<Buffer> => brotli(payload, brotliOptions),
  gzip: (payload: string | Buffer): Promise<Buffer> => zip(payload, gzipOptions),
}

const compressor = {
  br: () => createBrotliCompress(brotliOptions),
  gzip: () => createGzip(gzipOptions),
}

/** The better ones first. */
export const encodings = ['br', 'gzip'] as const

/** The first of these encodings that the client names and does not forbid by `q=0`. */
export function acceptedEncoding(
  header = '',
  offered: ReadonlyArray<(typeof encodings)[number]> = encodings,
): 'br' | 'gzip' | null {
  const named = header.toLowerCase().split(',')
  const accepts = (name: string) =>
    named.some((part) => {
      const [encoding = '', parameter = 'q=1'] = part.split(';', 2)
      const [key = '', weight = ''] = parameter.split('=', 2)
      const isWanted = key.trim() === 'q' ? Number(weight) > 0 : true
      return encoding.trim() === name && isWanted
    })
  return offered.find(accepts) ?? null
}
