// HTTP requests on connections that are kept open, as agents and other clients send them.
import { Agent, request, type OutgoingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'

interface Asked {
  method: string
  headers: OutgoingHttpHeaders
  body?: Buffer | string
}

export type Answer =
  | { status: number; location: string | null; bytes: Buffer }
  /** No response, or only a part of one. */
  | { status: null; reason: string }

/** Called for requests without an answer and for 5xx. */
export type OnFailure = (call: string, reason: string, status: number | null) => void

const timeoutMs = 60_000

/** `fetch` takes twice as much CPU time. */
const connections = new Agent({ keepAlive: true })

/** A server may close an idle connection just as it is used again. Our runner too repeats the request on a new one. */
export async function ask(url: string, asked: Asked): Promise<Answer> {
  return (await attempt(url, asked, connections)) ?? (await attempt(url, asked, false)) ?? closed
}

const closed: Answer = { status: null, reason: 'The connection was closed.' }

/** What is said of an answer that is none, or that is 5xx. */
export function reasonOf(answer: Answer, askedAtMs: number): string {
  const said = answer.status === null ? answer.reason : answer.bytes.toString('utf8', 0, 200)
  // Tells a request that was cut off from one that was refused at once.
  return `${said} (after ${((performance.now() - askedAtMs) / 1000).toFixed(2)} s)`
}

/** null: the connection had been used before and was closed without an answer. */
function attempt(
  url: string,
  { method, headers, body = '' }: Asked,
  agent: Agent | false,
): Promise<Answer | null> {
  const options = {
    method,
    headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    agent,
    signal: AbortSignal.timeout(timeoutMs),
  }
  return new Promise((resolve) => {
    const fail = (error: unknown) => resolve({ status: null, reason: String(error) })
    let hasAnswer = false
    const sent = request(url, options, (answer) => {
      hasAnswer = true
      const { statusCode: status = 0 } = answer
      const { location = null } = answer.headers
      buffer(answer).then((bytes) => resolve({ status, location, bytes }), fail)
    })
    sent.on('error', (error) => {
      const isReset = 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
      if (sent.reusedSocket && isReset && !hasAnswer) resolve(null)
      else fail(error)
    })
    sent.end(body)
  })
}
