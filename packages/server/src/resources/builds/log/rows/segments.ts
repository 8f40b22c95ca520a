// Sends a log to the threads in segments.
import { compiledModule } from '../../../../lib/package-files.ts'
import type { Place } from '../../../../lib/threads.ts'
import { notFound } from '../../../../lib/errors.ts'
import type { ReplayState } from './replay.ts'
import type { Segment } from './row-tasks.ts'
import type { Log } from '../source.ts'

/** Also the distance of checkpoints, so the part that is replayed to find a row. */
export const segmentBytes = 1024 * 1024
/** Far more than a segment takes. */
const mostCpuMs = 60_000

export const runRowTask = <Work extends (input: never) => unknown>(
  place: Place,
  name: string,
  input: Parameters<Work>[0],
): Promise<Awaited<ReturnType<Work>>> =>
  place.run<Work>(compiledModule('resources/builds/log/rows/row-tasks.ts'), name, input, mostCpuMs)

/** Calls `task` with one segment after the other, from a state to the end of the log. */
export async function* replaySegments<Result extends { state: ReplayState }>(
  log: Log,
  start: ReplayState | null,
  task: (segment: Segment) => Promise<Result>,
  mostBytes = segmentBytes,
): AsyncGenerator<Result> {
  for (let state = start; ;) {
    const segment = await readSegmentAt(log, state, mostBytes)
    const result = await task(segment)
    yield result
    if (segment.isLast) return
    ;({ state } = result)
  }
}

/** The bytes that follow a state, at most `most`. */
export async function readSegmentAt(
  log: Log,
  state: ReplayState | null,
  most = segmentBytes,
): Promise<Segment> {
  const start = state?.offset ?? 0
  const end = Math.min(start + most, log.size)
  const pieces: Buffer[] = []
  for await (const piece of log.read(start, end)) pieces.push(piece)
  const bytes = Buffer.concat(pieces)
  if (bytes.length < end - start) throw notFound('No log found')
  return { state, bytes, isLast: end === log.size, isFinal: log.isFinal }
}
