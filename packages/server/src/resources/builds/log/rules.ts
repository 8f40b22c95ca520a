// Reads from a request which form and which part of a log it asks for.
import { ApiError, badRequest } from '../../../lib/errors.ts'
import type { Escapes } from './screen/escapes.ts'

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

/** The part of the text that is asked for: from `start`, or the last bytes. Both ends are inclusive, as in HTTP. */
export type Range = { start: number; last: number | null } | { suffix: number }

/** null: all of it. */
export function readRange(range: string | undefined, form: Form): Range | null {
  if (range === undefined) return null
  if (form !== 'text') throw badRequest('A range can be asked for only of the text: send Accept: text/plain.')
  const [match, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range.trim()) ?? []
  const isSuffix = first === ''
  if (match === undefined || last === undefined || (isSuffix && Number(last) === 0)) throw noRange()
  if (isSuffix) return { suffix: Number(last) }
  const start = Number(first)
  if (last !== '' && Number(last) < start) throw noRange()
  return { start, last: last === '' ? null : Number(last) }
}

const noRange = () => badRequest('A range is bytes=FIRST-LAST, bytes=FIRST- or bytes=-N, with N from 1.')

/** `end` is exclusive. */
export function bytesOf(range: Range, size: number): { start: number; end: number } {
  if (size === 0) throw new ApiError(416, 'The log is empty.')
  if ('suffix' in range) return { start: Math.max(size - range.suffix, 0), end: size }
  if (range.start >= size) throw new ApiError(416, `The log has only ${size} bytes.`)
  return { start: range.start, end: Math.min((range.last ?? size) + 1, size) }
}

/** The header of a reader that reconnects takes precedence over the query. */
export const readOffset = (lastEventId: string | string[] | undefined, offset: number | undefined): number =>
  readEventId(lastEventId) ?? offset ?? 0

/** The first row that a reader does not know. */
export interface Position {
  row: number
  /** No row before it can change any more, or has changed since the reader got it. */
  isSettled: boolean
}

/** Ids of events are rows that come after settled ones. */
export function readPosition(lastEventId: string | string[] | undefined, row: number | undefined): Position {
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
