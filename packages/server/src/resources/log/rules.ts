// Reads from a request which form and which part of a log it asks for.
import { ApiError, badRequest } from '../../lib/errors.ts'
import type { Escapes } from './escapes.ts'

export type Form = 'json' | 'text' | 'html'

/** `raw` is every byte as the agent sent it, with its time codes. */
export type TextForm = Escapes | 'raw'

export const textFormOf = ({ raw, ansi }: { raw?: boolean; ansi?: boolean }): TextForm =>
  raw === true ? 'raw' : ansi === true ? 'ansi' : 'plain'

/** Browsers ask for HTML without naming JSON; programs that name nothing get JSON. */
export function formOf(accept: string | undefined): Form {
  if (accept?.includes('text/plain')) return 'text'
  if (accept?.includes('text/html') && !accept.includes('application/json')) return 'html'
  return 'json'
}

/** How many of the last bytes are asked for, as `bytes=-N`; null: all of them. */
export function readRange(range: string | undefined, form: Form): number | null {
  if (range === undefined) return null
  if (form !== 'text') throw badRequest('A range can be asked for only of the text: send Accept: text/plain.')
  const wanted = /^bytes=-(\d{1,15})$/.exec(range.trim())?.[1]
  if (wanted === undefined || Number(wanted) === 0) {
    throw badRequest('Only the end of a log can be asked for: Range: bytes=-N, with N from 1.')
  }
  return Number(wanted)
}

/** `end` is exclusive. */
export function lastBytes(wanted: number, size: number): { start: number; end: number } {
  if (size === 0) throw new ApiError(416, 'The log is empty.')
  return { start: Math.max(size - wanted, 0), end: size }
}

/** The header of a reader that reconnects takes precedence over the query. */
export const readOffset = (lastEventId: string | string[] | undefined, offset: number | undefined): number =>
  readEventId(lastEventId) ?? offset ?? 0

/** The first row that a reader does not know. */
export interface Place {
  row: number
  /** No row before it can change any more, or has changed since the reader got it. */
  isSettled: boolean
}

/** Ids of events are rows that come after settled ones. */
export function readPlace(lastEventId: string | string[] | undefined, row: number | undefined): Place {
  const id = readEventId(lastEventId)
  return { row: Math.max(id ?? row ?? 1, 1), isSettled: id !== null }
}

function readEventId(lastEventId: string | string[] | undefined): number | null {
  if (lastEventId === undefined || lastEventId === '') return null
  if (typeof lastEventId !== 'string' || !/^\d{1,15}$/.test(lastEventId)) {
    throw badRequest('Last-Event-ID must be the id of an event of this stream.')
  }
  return Number(lastEventId)
}
