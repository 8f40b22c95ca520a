// What a handler returns: a status, a body, and headers.
import type { Readable } from 'node:stream'

export interface Answer {
  status: number
  /** Written as JSON; text as it is when a header says its Content-Type; undefined: no body. */
  body?: unknown
  /** Instead of a body: JSON that is written already, because the database did. As bytes only in answers to GET. */
  json?: string | Buffer
  /** The same in pieces, for what is too large to hold at once; anything else when a header says its Content-Type. Only in answers to GET. */
  stream?: Readable
  headers?: Record<string, string>
}

export const ok = (body: unknown): Answer => ({ status: 200, body })
export const okJson = (json: string): Answer => ({ status: 200, json })
export const created = (body: unknown): Answer => ({ status: 201, body })
export const redirect = (to: string): Answer => ({ status: 302, headers: { Location: to } })

/** A picture we drew. The policy keeps it a picture also for whoever opens it as a page. */
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
