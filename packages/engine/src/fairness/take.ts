// Which waiting jobs of a fair queue come next. Jobs of machines that would exceed their slots come after those of people,
// whatever their priority, and untrusted jobs after trusted ones. Then the highest priority comes first, then the share whose
// job starts first in virtual time, then the order of the queue.
import { baseOf, begin, chargeFor, newShare, startOf, type Share } from './shares.ts'

export interface FairJob {
  id: string
  share: string
  isMachine: boolean
  isUntrusted: boolean
  priority: number
  /** How long it is expected to take. */
  seconds: number
}

export interface FairQueue {
  virtualTime: number
  shares: ReadonlyMap<string, Share>
  /** null: machines may hold all agents. */
  machines: { running: number; slots: number } | null
}

/** It changes with every job that is taken, and at the end of jobs. */
export interface Standing {
  virtualTime: number
  shares: Map<string, Share>
  /** The jobs of machines that run. */
  running: number
  /** null: machines may hold all agents. */
  slots: number | null
}

export const standingOf = ({ virtualTime, shares, machines }: FairQueue): Standing => ({
  virtualTime,
  shares: new Map(shares),
  running: machines?.running ?? 0,
  slots: machines?.slots ?? null,
})

/**
 * Takes at most `most` jobs, one after another, and charges their shares. `jobs` has the order of the queue. A job is taken if
 * an agent that is still free can run it; there is no other condition, so no agent idles beside a job for it.
 */
export function takeFairly<Job extends FairJob>(
  queue: FairQueue,
  jobs: readonly Job[],
  {
    most,
    canRun,
    onTake,
  }: { most: number; canRun(job: Job): boolean; onTake(job: Job, charge: number): void },
): FairQueue {
  const now = standingOf(queue)
  const left = new Set(jobs)
  for (let taken = 0; taken < most; taken++) {
    const next = takeNext(now, [...left].filter(canRun))
    if (next === undefined) break
    left.delete(next.job)
    onTake(next.job, next.charge)
  }
  const machines = queue.machines && { ...queue.machines, running: now.running }
  return { virtualTime: now.virtualTime, shares: now.shares, machines }
}

/** Takes one of the jobs that an agent can run, which have the order of the queue. */
export function takeNext<Job extends FairJob>(
  now: Standing,
  runnable: readonly Job[],
): { job: Job; charge: number } | undefined {
  const isLimited = now.slots !== null && now.running >= now.slots
  let best: Candidate<Job> | undefined
  let leastBase = Infinity
  for (const job of runnable) {
    const share = now.shares.get(job.share) ?? unknownShare
    leastBase = Math.min(leastBase, baseOf(now.virtualTime, share))
    const candidate = { job, share, start: startOf(now.virtualTime, share) }
    if (best === undefined || compare(isLimited, candidate, best) < 0) best = candidate
  }
  if (best === undefined) return undefined
  // A job of high priority may start late in virtual time. The others do not lose their order by it.
  now.virtualTime = leastBase
  const charge = chargeFor(best.share, best.job.seconds)
  now.shares.set(best.job.share, begin(now.virtualTime, best.share, charge))
  if (best.job.isMachine) now.running += 1
  return { job: best.job, charge }
}

interface Candidate<Job> {
  job: Job
  share: Share
  start: number
}

const unknownShare = newShare(1)

/** 0: the first in the order of the queue comes first. */
function compare(isLimited: boolean, one: Candidate<FairJob>, other: Candidate<FairJob>): number {
  return (
    (isLimited ? Number(one.job.isMachine) - Number(other.job.isMachine) : 0) ||
    Number(one.job.isUntrusted) - Number(other.job.isUntrusted) ||
    other.job.priority - one.job.priority ||
    one.start - other.start ||
    // Both would start at once: the one that used less before. Agents of one kind may move the virtual time far beyond the shares
    // that wait for another kind.
    one.share.finish - other.share.finish
  )
}
