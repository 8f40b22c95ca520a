// A growing log as server-sent events. The id of an event is the offset after its text in bytes, so that a reader who
// reconnects continues there.
import { setTimeout as delay } from 'node:timers/promises'
import { Readable } from 'node:stream'
import type { Context } from '../../context.ts'
import { findLogFrom, type Log } from './source.ts'

const pollMs = 250
/** Proxies close idle connections. */
const aliveMs = 15_000
const mostEventBytes = 64 * 1024

export const follow = (ctx: Context, orgId: string, jobId: string, from: number): Readable =>
  Readable.from(events(ctx, orgId, jobId, from), { objectMode: false })

async function* events(ctx: Context, orgId: string, jobId: string, from: number): AsyncGenerator<string> {
  let position = from
  let sentAt = Date.now()
  yield 'retry: 1000\n\n'
  for (;;) {
    const log = await findLogFrom(ctx, orgId, jobId, position)
    if (log === null) {
      yield 'event: deleted\ndata: {}\n\n'
      return
    }
    for await (const { text, end } of newText(log, position)) {
      position = end
      sentAt = Date.now()
      yield `id: ${end}\ndata: ${JSON.stringify({ text })}\n\n`
    }
    if (log.isFinal) {
      yield `id: ${position}\nevent: end\ndata: ${JSON.stringify({ size: log.size })}\n\n`
      return
    }
    if (Date.now() - sentAt >= aliveMs) {
      sentAt = Date.now()
      yield ': still there\n\n'
    }
    await delay(pollMs)
  }
}

/** Cut between characters: the first bytes of an incomplete character are kept for later. */
async function* newText(log: Log, from: number): AsyncGenerator<{ text: string; end: number }> {
  let position = from
  let rest: Buffer = Buffer.alloc(0)
  for await (const piece of log.read(from, log.size)) {
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    for (let whole = wholeCharacters(rest); whole > 0; whole = wholeCharacters(rest)) {
      position += whole
      yield { text: rest.toString('utf8', 0, whole), end: position }
      rest = rest.subarray(whole)
    }
  }
  if (log.isFinal && rest.length > 0) yield { text: rest.toString('utf8'), end: position + rest.length }
}

/** The number of leading bytes that are complete characters, at most the size of one event. */
function wholeCharacters(bytes: Buffer): number {
  const most = Math.min(bytes.length, mostEventBytes)
  for (let back = 1; back <= Math.min(3, most); back++) {
    const byte = bytes[most - back] ?? 0
    if (byte < 0x80) return most
    const isLead = byte >= 0xc0
    if (isLead) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? most - back : most
  }
  return most
}
