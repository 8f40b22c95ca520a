// Which waiting jobs of a fair queue come next. Jobs of machines that would exceed their slots come after those of people,
// whatever their priority, and untrusted jobs after trusted ones. Then the highest priority comes first, then the share whose
// job starts first in virtual time, then the order of the queue.
import { begin, chargeFor, newShare, startOf, timeAfter, type Share } from './shares.ts'

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

/** Both change with every job that is taken. */
interface Standing {
  virtualTime: number
  shares: Map<string, Share>
  running: number
}

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
  const now: Standing = {
    virtualTime: queue.virtualTime,
    shares: new Map(queue.shares),
    running: queue.machines?.running ?? 0,
  }
  const left = new Set(jobs)
  for (let taken = 0; taken < most; taken++) {
    const runnable = [...left].filter(canRun)
    const isLimited = queue.machines !== null && now.running >= queue.machines.slots
    const [head, ...others] = runnable
    if (head === undefined) break
    const first = others.reduce((best, job) => (compare(now, isLimited, job, best) < 0 ? job : best), head)
    left.delete(first)
    onTake(first, take(now, first, runnable))
  }
  const machines = queue.machines && { ...queue.machines, running: now.running }
  return { virtualTime: now.virtualTime, shares: now.shares, machines }
}

const shareOf = ({ shares }: Standing, { share }: FairJob): Share => shares.get(share) ?? newShare(1)

function take(now: Standing, job: FairJob, runnable: readonly FairJob[]): number {
  // A job of high priority may start late in virtual time. The others do not lose their order by it.
  now.virtualTime = timeAfter(
    now.virtualTime,
    runnable.map((each) => shareOf(now, each)),
  )
  const share = shareOf(now, job)
  const charge = chargeFor(share, job.seconds)
  now.shares.set(job.share, begin(now.virtualTime, share, charge))
  if (job.isMachine) now.running += 1
  return charge
}

/** 0: the first in the order of the queue comes first. */
function compare(now: Standing, isLimited: boolean, one: FairJob, other: FairJob): number {
  const [mine, theirs] = [shareOf(now, one), shareOf(now, other)]
  return (
    (isLimited ? Number(one.isMachine) - Number(other.isMachine) : 0) ||
    Number(one.isUntrusted) - Number(other.isUntrusted) ||
    other.priority - one.priority ||
    startOf(now.virtualTime, mine) - startOf(now.virtualTime, theirs) ||
    // Both would start at once: the one that used less before. Agents of one kind may move the virtual time far beyond the shares
    // that wait for another kind.
    mine.finish - theirs.finish
  )
}
