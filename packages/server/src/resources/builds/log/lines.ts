// Reads lines of a log with their times, from any offset.
import type { Static } from 'typebox'
import type { LogLines } from './schema.ts'
import type { Log } from './source.ts'

const timeCode = /\x1b_bk;t=(\d{1,15})\x07/g

/** A longer line is cut into several. */
const mostLineBytes = 64 * 1024
const mostBytes = 1024 * 1024

/** From the first line that begins at or after `from`. */
export async function readLines(log: Log, from: number, limit: number): Promise<Static<typeof LogLines>> {
  const offset = Math.min(from, log.size)
  const lines: Static<typeof LogLines>['lines'] = []
  // Starts one byte earlier, to see whether a line begins at `from`.
  let position = Math.max(offset - 1, 0)
  let isInLine = offset > 0
  let rest = Buffer.alloc(0)
  const take = (bytes: Buffer) => {
    if (!isInLine) lines.push(lineOf(position, bytes))
    isInLine = false
    position += bytes.length
  }
  const stop = Math.min(position + mostBytes, log.size)
  for await (const piece of log.read(position, stop)) {
    rest = Buffer.concat([rest, piece])
    while (lines.length < limit) {
      const newline = rest.indexOf(10)
      const length = newline === -1 ? mostLineBytes : Math.min(newline + 1, mostLineBytes)
      if (rest.length < length) break
      take(rest.subarray(0, length))
      rest = rest.subarray(length)
    }
    if (lines.length === limit) break
  }
  const isAtEnd = log.isFinal && position + rest.length === log.size
  if (isAtEnd && rest.length > 0 && lines.length < limit) take(rest)
  return { lines, next_offset: isAtEnd && position === log.size ? null : isInLine ? offset : position }
}

function lineOf(offset: number, bytes: Buffer): Static<typeof LogLines>['lines'][number] {
  const text = bytes.toString('utf8').replace(/\r?\n$/, '')
  const [first] = text.matchAll(timeCode)
  const time = first === undefined ? null : new Date(Number(first[1])).toISOString()
  return { offset, time, text: text.replace(timeCode, '') }
}
