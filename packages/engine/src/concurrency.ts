// Which jobs of one concurrency group may start now.
//
// A group's queue runs across builds, in the order in which the builds, or the uploading jobs, were made. A job
// that still waits for its dependencies keeps its place in the queue; that is how two steps of a group around
// other work make a gate. A job behind a block has left the queue, and a newer build may pass it. If no job can
// start otherwise, jobs that no agent can take give their slots and places to jobs that an agent can take.

import { holdsSlot, isQueuedForSlot } from './states.ts'
import type { JobState } from './states.ts'

export interface QueuedJob {
  id: string
  state: JobState
  limit: number
  method: 'ordered' | 'eager'
  priority: number
  /** False: it is ready or has a slot, and no agent can take it. */
  hasAgent: boolean
  /**
   * Jobs of this queue that must end before this one can start, directly or not. A job that waits for an
   * undefined key waits for every other job of its build that does not: any of them might define it.
   */
  waitsFor: readonly string[]
}

export interface SlotDecision {
  start: string[]
  /** Looked at for the first time and found no slot. */
  wait: string[]
  /** Lose their slot to those that start, because no agent can take them. */
  release: string[]
}

/** Takes the group's unfinished jobs in queue order: scheduled_at, build, position, slot, id. */
export function decideSlots(queue: readonly QueuedJob[]): SlotDecision {
  const inOrder = startInOrder(queue)
  const started = inOrder.size > 0 ? inOrder : startInOrder(queue.filter(({ hasAgent }) => hasAgent))
  const arePassed = inOrder.size === 0 && started.size > 0
  const release = arePassed ? queue.filter(({ state, hasAgent }) => state === 'scheduled' && !hasAgent) : []
  const refused = queue.filter((job) => job.state === 'limiting' && !started.has(job.id))
  return { start: [...started], wait: refused.map(({ id }) => id), release: release.map(({ id }) => id) }
}

function startInOrder(queue: readonly QueuedJob[]): Set<string> {
  const started = new Set<string>()
  let held = queue.filter((job) => holdsSlot(job.state)).length
  const begin = (job: QueuedJob): void => {
    started.add(job.id)
    held += 1
  }
  const reaches = queue.map(reachIn(queue))
  const ahead: number[] = []
  for (const [index, job] of queue.entries()) {
    if (!isQueuedForSlot(job.state)) continue
    const holdingUp = ahead.filter((reach) => reach < index).length
    if (job.method === 'ordered' && isReady(job) && held + holdingUp < job.limit) begin(job)
    else ahead.push(reaches[index] ?? -1)
  }
  const eager = queue.filter((job) => job.method === 'eager' && isReady(job))
  for (const job of eager.sort((one, other) => other.priority - one.priority)) {
    if (held < job.limit) begin(job)
  }
  return started
}

// A job in front that waits for the end of one further back would deadlock if that one waited for its place. So a
// job does not hold up the last queued job it waits for, nor any job in front of that.
function reachIn(queue: readonly QueuedJob[]): (job: QueuedJob) => number {
  const places = new Map(queue.map((job, index) => [job.id, isQueuedForSlot(job.state) ? index : -1]))
  return ({ waitsFor }) => waitsFor.reduce((last, id) => Math.max(last, places.get(id) ?? -1), -1)
}

function isReady(job: QueuedJob): boolean {
  return job.state === 'limiting' || job.state === 'limited'
}
