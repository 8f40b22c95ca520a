// Decides the slots of concurrency groups for builds in memory.

import { decideSlots } from '../concurrency.ts'
import type { QueuedJob } from '../concurrency.ts'
import type { MemoryBuild } from './build.ts'
import { Graph } from '../plan/graph.ts'
import type { JobRow, StepRow } from '../rows.ts'
import { isFinal } from '../states.ts'
import type { Store } from './store.ts'

/** Takes the builds in the order of their creation. Call it after every advance that changed the group. */
export function decideGroupSlots(builds: readonly MemoryBuild[], group: string, at: string): void {
  const { start, wait } = decideSlots(builds.flatMap((build) => queueOf(build.store, group)))
  for (const build of builds) {
    const isOwn = (id: string): boolean => build.store.jobs.has(id)
    build.apply({
      type: 'slots_decided',
      start: start.filter(isOwn),
      wait: wait.filter(isOwn),
      release: [],
      at,
    })
  }
}

function queueOf(store: Store, group: string): QueuedJob[] {
  const jobs = store.newestJobs().filter((job) => job.concurrencyGroup === group && !isFinal(job.state))
  const graph = waitingGraph(store)
  const behind = new Map(jobs.map((job) => [job.stepId, graph.behind([job.stepId])]))
  const missing = [...store.steps.values()]
    .filter((step) => step.missing > 0 && step.phase === 'waiting')
    .map((step) => step.id)
  const adrift = graph.behind(missing)
  const waitsFor = (job: JobRow, other: JobRow): boolean =>
    adrift.has(job.stepId)
      ? !adrift.has(other.stepId)
      : job.stepId !== other.stepId && behind.get(other.stepId)?.has(job.stepId) === true
  return jobs.sort(inBuildOrder(store)).map((job) => {
    const { limit, method, priority } = limitOf(store, job)
    const sources = jobs.filter((other) => waitsFor(job, other)).map((other) => other.id)
    return { id: job.id, state: job.state, limit, method, priority, hasAgent: true, waitsFor: sources }
  })
}

/** The edges to steps that still wait. */
function waitingGraph(store: Store): Graph {
  const graph = new Graph()
  for (const step of store.steps.values()) graph.addStep(step)
  for (const edge of store.allEdges()) {
    if (store.steps.get(edge.to)?.phase === 'waiting') graph.addEdge(edge)
  }
  return graph
}

function limitOf(store: Store, job: JobRow): Pick<QueuedJob, 'limit' | 'method' | 'priority'> {
  const work = store.work.get(job.id)
  if (work?.kind !== 'script' || work.concurrency === null) {
    throw new Error(`Job ${job.id} is in a concurrency group without a limit`)
  }
  return { limit: work.concurrency.limit, method: work.concurrency.method, priority: work.priority }
}

function inBuildOrder(store: Store): (one: JobRow, other: JobRow) => number {
  const placeOf = ({ stepId }: JobRow): StepRow['position'] => store.steps.get(stepId)?.position ?? ''
  return (one, other) =>
    compare(one.scheduledAt, other.scheduledAt) ||
    compare(placeOf(one), placeOf(other)) ||
    one.slot - other.slot ||
    compare(one.id, other.id)
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}
