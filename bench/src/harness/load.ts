// Sends requests to one URL over a number of connections. The client shares the machine with the server, so it does
// little: the request is one string, and responses are read into one buffer and only timed. An HTTP client needs three
// times as long for a small response, and allocates memory for every 64 KiB of a large one.
import net from 'node:net'

export interface Measured {
  perSecond: number
  p50: number
  p95: number
  p99: number
}

interface Load {
  url: string
  method?: 'GET' | 'POST'
  body?: string
  token: string
  connections: number
  seconds: number
}

/** Each connection waits for the response before the next request. */
export async function loadUrl({ url, connections, seconds, ...rest }: Load): Promise<Measured> {
  const target = new URL(url)
  const request = requestText(target, rest)
  const latencies: number[] = []
  const start = performance.now()
  const end = start + seconds * 1000
  await Promise.all(Array.from({ length: connections }, () => askUntil(target, request, end, latencies)))
  return summary(latencies, (performance.now() - start) / 1000)
}

function requestText(
  { host, pathname, search }: URL,
  given: Pick<Load, 'method' | 'body' | 'token'>,
): Buffer {
  const { method = 'GET', body, token } = given
  const head = [`${method} ${pathname}${search} HTTP/1.1`, `host: ${host}`, `authorization: Bearer ${token}`]
  const about =
    body === undefined ? [] : ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]
  return Buffer.from([...head, ...about, '', body ?? ''].join('\r\n'))
}

function askUntil({ hostname, port }: URL, request: Buffer, end: number, latencies: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let answer = new Answer()
    let at = performance.now()
    const read = (length: number, bytes: Uint8Array) => {
      const isWhole = answer.take(Buffer.from(bytes.buffer, bytes.byteOffset, length))
      if (!(answer.status < 300))
        socket.destroy(new Error(`The answer is ${answer.status} to ${request.toString()}`))
      if (!isWhole) return true
      const now = performance.now()
      latencies.push(now - at)
      at = now
      answer = new Answer()
      if (now < end) socket.write(request)
      else socket.end()
      return true
    }
    const onread = { buffer: Buffer.alloc(256 * 1024), callback: read }
    const socket = net.connect({ host: hostname, port: Number(port), noDelay: true, onread }, () => {
      at = performance.now()
      socket.write(request)
    })
    socket.on('error', reject)
    socket.on('close', () => resolve())
  })
}

/** The response that is being received. There is no pipelining. */
class Answer {
  status = 0
  /** The remaining bytes; unknown for a chunked response. */
  private left: number | null = null
  private tail = ''

  /** Whether it is complete. JSON has no line ends, so they mark the last chunk. */
  take(bytes: Buffer): boolean {
    if (this.status === 0) this.readHead(bytes)
    else if (this.left !== null) this.left -= bytes.length
    if (this.left !== null) return this.left <= 0
    this.tail = (this.tail + bytes.toString('latin1', Math.max(bytes.length - 5, 0))).slice(-5)
    return this.tail === '0\r\n\r\n'
  }

  /** The server writes headers in one piece. The status is NaN for anything else. */
  private readHead(bytes: Buffer): void {
    this.status = Number(bytes.toString('latin1', 9, 12))
    const end = bytes.indexOf(endOfHead)
    const at = bytes.indexOf(lengthHeader)
    if (at === -1 || at > end) return
    const from = at + lengthHeader.length
    const length = Number.parseInt(bytes.toString('latin1', from, from + 16))
    this.left = length - (bytes.length - end - endOfHead.length)
  }
}

const endOfHead = Buffer.from('\r\n\r\n')
/** In the spelling of Node. */
const lengthHeader = Buffer.from('\r\ncontent-length: ')

export function summary(latencies: number[], elapsedSeconds: number): Measured {
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0
  return { perSecond: latencies.length / elapsedSeconds, p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

/** The median round, which a single disturbance does not change. */
export function median(rounds: readonly Measured[]): Measured {
  const perSecond = middle(rounds.map((round) => round.perSecond))
  const found = rounds.find((round) => round.perSecond === perSecond)
  if (found === undefined) throw new Error('No round was measured.')
  return found
}

export function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
}
