// A growing log as server-sent events. The id of an event is the offset after its text in bytes, so that a reader who
// reconnects continues there.
import { Readable } from 'node:stream'
import { wholeCharacters } from '../screen/utf8.ts'
import { findLogFrom, type Log } from '../source.ts'
import { aliveLine, deletedEvent, Feeds, retryLine, type FollowedLog } from './feed.ts'
import { TextEnd } from './text-end.ts'

const mostEventBytes = 64 * 1024

const feeds = new Feeds(() => new TextEnd())

export const follow = (log: FollowedLog, from: number, until: AbortSignal): Readable =>
  Readable.from(events(log, from, until), { objectMode: false })

async function* events(
  { ctx, orgId, jobId }: FollowedLog,
  from: number,
  until: AbortSignal,
): AsyncGenerator<string> {
  const feed = feeds.join({ ctx, orgId, jobId }, until)
  yield retryLine
  for (let position = from; !until.aborted;) {
    const { outcome, end, changed } = feed.look()
    if (end.offset !== null && position < end.start) {
      const log = await findLogFrom(ctx, orgId, jobId, position)
      if (log === null) return yield deletedEvent
      for await (const part of newText(log, position)) {
        position = part.end
        yield eventOf(part)
      }
      continue
    }
    const bytes = end.bytesFrom(position, mostEventBytes)
    const isRest = outcome === 'final' && position + bytes.length === end.offset
    const size = isRest ? bytes.length : wholeCharacters(bytes, mostEventBytes)
    if (size > 0) {
      position += size
      yield eventOf({ text: bytes.toString('utf8', 0, size), end: position })
    } else if (outcome === 'deleted') return yield deletedEvent
    else if (outcome === 'final')
      return yield `id: ${position}\nevent: end\ndata: ${JSON.stringify({ size: feed.size })}\n\n`
    else if (!(await changed())) yield aliveLine
  }
}

interface Part {
  text: string
  end: number
}

const eventOf = ({ text, end }: Part) => `id: ${end}\ndata: ${JSON.stringify({ text })}\n\n`

/** Cut between characters: the first bytes of an incomplete character are kept for later. */
async function* newText(log: Log, from: number): AsyncGenerator<Part> {
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
