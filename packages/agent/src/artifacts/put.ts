// Streams a file to an address.

import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { openRequest, readAll } from '../http/exchange.ts'
import type { Answer } from '../http/exchange.ts'
import { Refused } from '../http/retry.ts'
import { USER_AGENT } from '../version.ts'

interface Sending {
  url: URL
  method: string
  headers: Readonly<Record<string, string>>
  bytes: AsyncIterable<Buffer>
  size: number
  signal: AbortSignal | undefined
}

const STALL_MS = 300_000
const MAX_ANSWER_BYTES = 1024 * 1024

export async function* slice(path: string, start: number, end: number): AsyncGenerator<Buffer> {
  if (end > start) yield* createReadStream(path, { start, end: end - 1 }) as AsyncIterable<Buffer>
}

/** Throws Refused unless the response status is 2xx. */
export async function put({ url, method, headers, bytes, size, signal }: Sending): Promise<Answer> {
  const request = openRequest(url, {
    method,
    headers: { 'User-Agent': USER_AGENT, ...headers, 'Content-Length': size },
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
  // An early refusal breaks the upload. The response has the reason.
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
