// Sends requests and reads whole answers, without any retry.
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { gunzipSync, brotliDecompressSync } from 'node:zlib'
import { Pool } from 'undici'

export interface Sent {
  method: string
  /** As it is in the request line. */
  path: string
  headers: Record<string, string>
  body: Buffer | null
}

export interface Received {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  /** The answer did not end by itself within the time that is given to a stream. */
  isOpen: boolean
}

/** The server did not answer as HTTP demands. */
export type Failure = { failure: string }

/** Longer than any limit of the server for one request. */
const patienceMs = 300_000
/** How long a stream is listened to. */
const listenMs = 150

export class Client {
  readonly address: string
  readonly #pool: Pool

  constructor(address: string, connections: number) {
    this.address = address
    this.#pool = new Pool(address, {
      connections,
      pipelining: 1,
      headersTimeout: patienceMs,
      bodyTimeout: patienceMs,
      keepAliveTimeout: 30_000,
    })
  }

  async send({ method, path, headers, body }: Sent): Promise<Received | Failure> {
    try {
      const answer = await this.#pool.request({
        method,
        path,
        headers,
        body,
        signal: AbortSignal.timeout(patienceMs),
      })
      const isStream = /event-stream|grpc/.test(String(answer.headers['content-type']))
      const read = isStream
        ? await listen(answer.body)
        : { bytes: Buffer.from(await answer.body.arrayBuffer()), isOpen: false }
      return {
        status: answer.statusCode,
        headers: answer.headers,
        text: decode(String(answer.headers['content-encoding'] ?? ''), read.bytes).toString(),
        isOpen: read.isOpen,
      }
    } catch (error) {
      return { failure: error instanceof Error ? `${error.name}: ${error.message}` : String(error) }
    }
  }

  /** Sends bytes that may be no HTTP at all, and then nothing more. null: the connection was closed without an answer. */
  sendRaw(bytes: Buffer): Promise<Received | Failure | null> {
    const { hostname, port } = new URL(this.address)
    return new Promise((resolve) => {
      const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
      const parts: Buffer[] = []
      const finish = (result: Received | Failure | null) => {
        clearTimeout(timer)
        socket.destroy()
        resolve(result)
      }
      const timer = setTimeout(() => finish({ failure: 'The connection stayed open.' }), patienceMs)
      const end = () => finish(parts.length === 0 ? null : parseRaw(Buffer.concat(parts)))
      socket.on('data', (part: Buffer) => parts.push(part))
      socket.on('end', end)
      socket.on('error', end)
      socket.end(bytes)
    })
  }

  close(): Promise<void> {
    return this.#pool.destroy()
  }
}

async function listen(body: AsyncIterable<Buffer> & { destroy(): unknown }) {
  const parts: Buffer[] = []
  const reading = (async () => {
    for await (const part of body) parts.push(part)
    return false
  })()
  const isOpen = await Promise.race([reading, delay(listenMs, true)])
  if (isOpen) {
    reading.catch(() => {})
    body.destroy()
  }
  return { bytes: Buffer.concat(parts), isOpen }
}

function decode(encoding: string, bytes: Buffer): Buffer {
  if (bytes.length === 0) return bytes
  if (encoding === 'gzip') return gunzipSync(bytes)
  return encoding === 'br' ? brotliDecompressSync(bytes) : bytes
}

function parseRaw(bytes: Buffer): Received | Failure {
  const text = bytes.toString('latin1')
  const status = /^HTTP\/1\.[01] (\d{3}) /.exec(text)?.[1]
  if (status === undefined) return { failure: `The answer is not HTTP: ${text.slice(0, 200)}` }
  return { status: Number(status), headers: {}, text, isOpen: false }
}
