// The forms a log is shown in. All of them are written while it is read: a log may be larger than memory.
import { Readable } from 'node:stream'
import { sectionTimes } from './sections.ts'
import { Screen } from './screen.ts'
import type { Log } from './source.ts'

export const logUrl = (
  base: string,
  orgSlug: string,
  job: { id: string; pipeline_slug: string; build_number: number },
): string =>
  `${base}/v2/organizations/${orgSlug}/pipelines/${job.pipeline_slug}/builds/${job.build_number}/jobs/${job.id}/log`

export const asBytes = (log: Log, start: number, end: number): Readable =>
  Readable.from(log.read(start, end), { objectMode: false })

export const asJson = (log: Log, url: string): Readable =>
  Readable.from(writeJson(log, url), { objectMode: false })

export const asHtml = (log: Log): Readable => Readable.from(writeHtml(log), { objectMode: false })

async function* writeJson(log: Log, url: string): AsyncGenerator<string> {
  const sections = sectionTimes()
  yield `{"url":${JSON.stringify(url)},"content":"`
  for await (const text of textOf(log)) {
    sections.push(text)
    yield JSON.stringify(text).slice(1, -1)
  }
  yield `","size":${log.size},"header_times":[${sections.end(log.headerTimes).join(',')}]}`
}

/** Shown by itself or in a frame; with its policy it can neither run nor load anything. */
export const htmlPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

async function* writeHtml(log: Log): AsyncGenerator<string> {
  const screen = new Screen()
  yield `<!doctype html><html><head><meta charset="utf-8"><title>Log</title><style>${styles}</style></head><body><pre>`
  for await (const text of textOf(log)) yield screen.write(text)
  yield `${screen.end()}</pre></body></html>\n`
}

const styles = [
  'body{background:#111;color:#eee;margin:0;padding:8px;font:13px/1.4 monospace}pre{margin:0;white-space:pre-wrap}',
  '.b{font-weight:bold}.d{opacity:.6}.i{font-style:italic}.u{text-decoration:underline}.s{text-decoration:line-through}',
  '.v{filter:invert(1)}',
].join('')

/** Characters whole, also those that two pieces share; bytes that are none become U+FFFD. */
async function* textOf(log: Log): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  for await (const piece of log.read(0, log.size)) {
    const text = decoder.decode(piece, { stream: true })
    if (text !== '') yield text
  }
  const last = decoder.decode()
  if (last !== '') yield last
}
