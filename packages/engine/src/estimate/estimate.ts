// When the waiting jobs of a queue will start: the queue is run ahead many times, with lengths of jobs drawn from what the last ones
// took. Where the runs differ too much, or nothing is known, the answer is "unknown".
import { groupOf } from './line.ts'
import { runOnce, type QueueNow } from './run.ts'
import { numbersFrom } from './random.ts'

export type Unknown =
  /** No agent can run the job. */
  | 'no_agent'
  /** Too few jobs have ended to know how long they take. */
  | 'no_history'
  /** A job that comes first runs longer than any before it, so its end is not known. */
  | 'overrun'
  /** The lengths of the jobs that come first differ too much. */
  | 'spread'
  /** Too many jobs come first, or the queue has too many agents. */
  | 'too_large'

export type Estimate = { seconds: number } | { unknown: Unknown }

const mostRuns = 15
const leastRuns = 5
/** Jobs that a run looks at, in all runs together, so that an estimate costs a bounded time. */
const mostLooks = 100_000

/** The middle four fifths of the runs may lie so many seconds apart, or as many as the job waits. */
const steadySeconds = 60

/** Yields after each run, so that the caller can do other things. */
export function* estimateStarts(
  now: QueueNow,
  seed = 1,
): Generator<undefined, Map<string, Estimate>, undefined> {
  const able = ableKinds(now)
  const runnable = now.jobs.filter(({ kind }) => able.has(kind))
  const keys = runnable.map((job) => (now.fair === null ? job.kind : groupOf(job)))
  const groups = new Set(keys).size
  const jobs = runnable.slice(0, Math.max(1, Math.floor(mostLooks / leastRuns / Math.max(1, groups))))
  const runs = Math.min(mostRuns, Math.floor(mostLooks / Math.max(1, jobs.length * groups)))
  const random = numbersFrom(seed)
  const found: Array<Map<string, number>> = []
  while (found.length < Math.max(leastRuns, runs)) {
    found.push(runOnce({ ...now, jobs }, random))
    yield
  }
  const lacking: Unknown = jobs.some(({ lengths }) => lengths.length === 0) ? 'no_history' : 'overrun'
  const estimates = new Map<string, Estimate>()
  for (const { id, kind } of now.jobs)
    estimates.set(id, { unknown: able.has(kind) ? 'too_large' : 'no_agent' })
  for (const { id } of jobs)
    estimates.set(
      id,
      judge(
        found.map((starts) => starts.get(id) ?? Infinity),
        lacking,
      ),
    )
  return estimates
}

/** Many agents share one set. */
function ableKinds({ agents, jobs }: QueueNow): ReadonlySet<number> {
  const sets = [...new Set(agents.map(({ kinds }) => kinds))]
  const wanted = new Set(jobs.map(({ kind }) => kind))
  return new Set([...wanted].filter((kind) => sets.some((kinds) => kinds.has(kind))))
}

function judge(starts: number[], lacking: Unknown): Estimate {
  const sorted = starts.sort((a, b) => a - b)
  const at = (part: number) => sorted[Math.round((sorted.length - 1) * part)] ?? Infinity
  const [early, middle, late] = [at(0.1), at(0.5), at(0.9)]
  if (late === Infinity) return { unknown: lacking }
  return late - early > Math.max(steadySeconds, middle) ? { unknown: 'spread' } : { seconds: middle }
}
