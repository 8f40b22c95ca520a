// Answers of tools that never fill the context of a language model.
import type { Answer } from '../http/answer.ts'
import { cutText, plainText } from '../resources/builds/log/screen/plain-text.ts'

/** The largest answer of a tool. A failure summary has its own limit. */
export const mostBytes = 64 * 1024

interface Listed<Entry> {
  entries: readonly Entry[]
  /** How to ask for the entries that were left out. */
  more: string
  /** There are further entries that were not read. */
  hasMore: boolean
}

/** A list under `name`, with as many entries as fit, and `truncated`: null or how to get more. */
export function boundedList<Entry>(
  name: string,
  { entries, more, hasMore }: Listed<Entry>,
  rest: Record<string, unknown> = {},
): Record<string, unknown> {
  let bytes = Buffer.byteLength(JSON.stringify(rest)) + 500
  let shown = 0
  for (const entry of entries) {
    bytes += Buffer.byteLength(JSON.stringify(entry)) + 1
    if (bytes > mostBytes) break
    shown++
  }
  const isWhole = shown === entries.length && !hasMore
  return { ...rest, [name]: entries.slice(0, shown), truncated: isWhole ? null : { shown, more } }
}

/** For lists that REST answers by page number. */
export const pageQuery = (given: { limit?: number; page?: number }, limit = 20) => ({
  per_page: String(given.limit ?? limit),
  page: String(given.page ?? 1),
})

export const hasNext = (headers: Answer['headers']) => /rel="next"/.test(headers?.['Link'] ?? '')

/** One page of a list. */
export const boundedPage = (
  name: string,
  entries: readonly unknown[],
  headers: Answer['headers'],
  { page = 1 }: { page?: number },
  otherwise = ', or a larger limit',
) => {
  const more = `Call again with page=${page + 1}${otherwise}.`
  return boundedList(name, { entries, hasMore: hasNext(headers), more })
}

/** The named fields of a JSON object, long texts cut. */
export function pick(value: unknown, names: readonly string[], most = 500): Record<string, unknown> {
  const object = (value ?? {}) as Record<string, unknown>
  return Object.fromEntries(
    names
      .filter((name) => object[name] !== undefined)
      .map((name) => {
        const field = object[name]
        return [name, typeof field === 'string' ? cutText(plainText(field), most) : field]
      }),
  )
}
