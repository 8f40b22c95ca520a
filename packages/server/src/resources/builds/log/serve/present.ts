// The text forms of a log, made from its bytes. They are streamed, since a log may be larger than memory.
import { Readable } from 'node:stream'
import { removeEscapes, type Escapes } from '../screen/escapes.ts'
import type { TextForm } from '../rules.ts'
import type { Log } from '../source.ts'

export const logUrl = (
  base: string,
  orgSlug: string,
  job: { id: string; pipeline_slug: string; build_number: number },
): string =>
  `${base}/v2/organizations/${orgSlug}/pipelines/${job.pipeline_slug}/builds/${job.build_number}/jobs/${job.id}/log`

export const asText = (log: Log, form: TextForm): Readable =>
  Readable.from(readText(log, form), { objectMode: false })

/** Bytes `start` to `end` (exclusive) of that form. */
export const asPartOfText = (log: Log, form: TextForm, start: number, end: number): Readable =>
  Readable.from(form === 'raw' ? log.read(start, end) : cutTo(readText(log, form), start, end), {
    objectMode: false,
  })

/** In bytes. Only the raw form's size is known without reading the log. */
export async function sizeOfText(log: Log, form: TextForm): Promise<number> {
  if (form === 'raw') return log.size
  let size = 0
  for await (const piece of readText(log, form)) size += piece.length
  return size
}

export const asJson = (log: Log, facts: Facts, hasTimeCodes: boolean): Readable =>
  Readable.from(writeJson(log, facts, hasTimeCodes), { objectMode: false })

interface Facts {
  url: string
  /** As JSON numbers. */
  headerTimes: readonly string[]
}

function readText(log: Log, form: TextForm): AsyncGenerator<Buffer> {
  const bytes = log.read(0, log.size)
  return form === 'raw' ? bytes : withoutEscapes(bytes, form)
}

/** Latin-1 has one character for each byte, so invalid UTF-8 stays unchanged. */
async function* withoutEscapes(pieces: AsyncIterable<Buffer>, escapes: Escapes): AsyncGenerator<Buffer> {
  const remover = removeEscapes(escapes)
  for await (const piece of pieces) {
    const text = remover.push(piece.toString('latin1'))
    if (text !== '') yield Buffer.from(text, 'latin1')
  }
  const last = remover.end()
  if (last !== '') yield Buffer.from(last, 'latin1')
}

async function* cutTo(pieces: AsyncIterable<Buffer>, start: number, end: number): AsyncGenerator<Buffer> {
  let position = 0
  for await (const piece of pieces) {
    const part = piece.subarray(Math.max(start - position, 0), end - position)
    if (part.length > 0) yield part
    position += piece.length
    if (position >= end) return
  }
}

async function* writeJson(
  log: Log,
  { url, headerTimes }: Facts,
  hasTimeCodes: boolean,
): AsyncGenerator<string> {
  const shown = hasTimeCodes ? asWritten : removeEscapes('ansi')
  yield `{"url":${JSON.stringify(url)},"content":"`
  for await (const text of textOf(log)) yield JSON.stringify(shown.push(text)).slice(1, -1)
  yield JSON.stringify(shown.end()).slice(1, -1)
  yield `","size":${log.size},"header_times":[${headerTimes.join(',')}]}`
}

const asWritten = { push: (text: string) => text, end: () => '' }

/** Characters that span two pieces are joined; invalid bytes become U+FFFD. */
async function* textOf(log: Log): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  for await (const piece of log.read(0, log.size)) {
    const text = decoder.decode(piece, { stream: true })
    if (text !== '') yield text
  }
  const last = decoder.decode()
  if (last !== '') yield last
}
