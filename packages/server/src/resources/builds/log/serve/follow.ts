// A growing log as server-sent events. The id of an event is the offset after its text in bytes, so that a reader who
// reconnects continues there.
import { Readable } from 'node:stream'
import type { Context } from '../../../../context.ts'
import { wholeCharacters } from '../screen/utf8.ts'
import type { Log } from '../source.ts'
import { retryLine, pollLog } from './poll-log.ts'

const mostEventBytes = 64 * 1024

export const follow = (ctx: Context, orgId: string, jobId: string, from: number): Readable =>
  Readable.from(events(ctx, orgId, jobId, from), { objectMode: false })

async function* events(ctx: Context, orgId: string, jobId: string, from: number): AsyncGenerator<string> {
  let position = from
  yield retryLine
  yield* pollLog(ctx, orgId, jobId, {
    offset: () => position,
    async *newEvents(log) {
      for await (const { text, end } of newText(log, position)) {
        position = end
        yield `id: ${end}\ndata: ${JSON.stringify({ text })}\n\n`
      }
    },
    endEvent: ({ size }) => `id: ${position}\nevent: end\ndata: ${JSON.stringify({ size })}\n\n`,
  })
}

/** Cut between characters: the first bytes of an incomplete character are kept for later. */
async function* newText(log: Log, from: number): AsyncGenerator<{ text: string; end: number }> {
  let position = from
  let rest: Buffer = Buffer.alloc(0)
  for await (const piece of log.read(from, log.size)) {
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    for (
      let whole = wholeCharacters(rest, mostEventBytes);
      whole > 0;
      whole = wholeCharacters(rest, mostEventBytes)
    ) {
      position += whole
      yield { text: rest.toString('utf8', 0, whole), end: position }
      rest = rest.subarray(whole)
    }
  }
  if (log.isFinal && rest.length > 0) yield { text: rest.toString('utf8'), end: position + rest.length }
}
