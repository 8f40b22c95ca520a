// The answer of a handler, and how it is sent.
import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'

export interface Answer {
  status: number
  /** Sent as JSON. With a Content-Type among the headers: sent unchanged. undefined: no body. */
  body?: unknown
  /** Instead of `body`: JSON that the database has written. As bytes only in answers to GET. */
  json?: string | Buffer
  /** Instead of `body`: JSON, or what the Content-Type says, in chunks. Only where no Idempotency-Key is taken. */
  stream?: Readable
  headers?: Record<string, string>
  /** Headers that are sent after the stream, each with a function that is called then. */
  trailers?: Record<string, () => string>
}

export const ok = (body: unknown): Answer => ({ status: 200, body })
export const okJson = (json: string): Answer => ({ status: 200, json })
export const created = (body: unknown): Answer => ({ status: 201, body })
export const redirect = (to: string): Answer => ({ status: 302, headers: { Location: to } })

/** The policy disables scripts when somebody opens the image as a page. */
export const svg = (text: string): Answer => ({
  status: 200,
  body: text,
  headers: {
    'Content-Type': 'image/svg+xml',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cache-Control': 'public, max-age=86400',
  },
})

export const noContent = (): Answer => ({ status: 204 })

export async function sendAnswer(reply: FastifyReply, answer: Answer): Promise<FastifyReply> {
  const { status, body, json, stream, headers = {}, trailers = {} } = answer
  const isJson = headers['Content-Type'] === undefined
  const payload = json ?? stream ?? (isJson && body !== undefined ? await toJson(body) : body)
  void reply.code(status).headers(headers)
  if (isJson && payload !== undefined) void reply.type('application/json; charset=utf-8')
  for (const [name, value] of Object.entries(trailers)) reply.trailer(name, async () => value())
  return reply.send(payload)
}

const longestMs = 15

/** A page of rows can have many megabytes, so the event loop runs between rows that take long. */
async function toJson(body: unknown): Promise<string> {
  if (!Array.isArray(body) || body.length < 2) return JSON.stringify(body)
  const rows: string[] = []
  let startMs = performance.now()
  for (const row of body) {
    rows.push(JSON.stringify(row) ?? 'null')
    if (performance.now() - startMs < longestMs) continue
    await setImmediate()
    startMs = performance.now()
  }
  return `[${rows.join(',')}]`
}
