// Compresses large JSON responses in zlib's threads, with what the client accepts.
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyInstance } from 'fastify'

const fromBytes = 8192
const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

/** Streams are sent as they are: their length is not known, and server-sent events may not wait in a buffer. */
export function compressJson(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
    const isJson = String(reply.getHeader('content-type')).startsWith('application/json')
    if (!isJson || payload.length < fromBytes || reply.hasHeader('content-encoding')) return payload
    void reply.header('Vary', 'Accept-Encoding')
    const encoding = acceptedEncoding(request.headers['accept-encoding'])
    if (encoding === null) return payload
    const compressed = await compress[encoding](payload)
    void reply.header('Content-Encoding', encoding).header('Content-Length', compressed.length)
    return compressed
  })
}

const compress = {
  br: (payload: string | Buffer): Promise<Buffer> =>
    brotli(payload, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (payload: string | Buffer): Promise<Buffer> => zip(payload, { level: 5 }),
}

/** The better encoding that the client names and does not forbid by `q=0`. */
function acceptedEncoding(header = ''): 'br' | 'gzip' | null {
  const named = header.toLowerCase().split(',')
  const accepts = (name: string) =>
    named.some((part) => {
      const [encoding, weight = '1'] = part.trim().split(/\s*;\s*q\s*=\s*/)
      return encoding === name && Number(weight) > 0
    })
  return accepts('br') ? 'br' : accepts('gzip') ? 'gzip' : null
}
