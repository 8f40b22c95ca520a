// The rows of one build in memory.

import type { Changes } from '../advance/changes.ts'
import type { BuildRow, EdgeRow, JobRow, RefRow, StepRow } from '../rows.ts'
import type { StepDefinition } from '../steps/types.ts'
import type { JobWork } from '../work.ts'

export class Store {
  build: BuildRow
  readonly steps = new Map<string, StepRow>()
  readonly jobs = new Map<string, JobRow>()
  readonly definitions = new Map<string, StepDefinition>()
  readonly work = new Map<string, JobWork>()
  refs: RefRow[] = []
  private readonly outgoing = new Map<string, EdgeRow[]>()
  private readonly jobIds = new Map<string, string[]>()

  constructor(build: BuildRow) {
    this.build = build
  }

  edgesFrom(stepId: string): readonly EdgeRow[] {
    return this.outgoing.get(stepId) ?? []
  }

  allEdges(): EdgeRow[] {
    return [...this.outgoing.values()].flat()
  }

  /** The newest job of every slot, in slot order. */
  jobsOf(stepId: string): JobRow[] {
    const jobs = (this.jobIds.get(stepId) ?? []).map((id) => this.jobs.get(id))
    return jobs
      .filter((job) => job !== undefined)
      .filter((job) => job.retriedInJobId === null)
      .sort((one, other) => one.slot - other.slot)
  }

  newestJobs(): JobRow[] {
    return [...this.jobs.values()].filter((job) => job.retriedInJobId === null)
  }

  /** Steps in display order. */
  stepsInOrder(): StepRow[] {
    return [...this.steps.values()].sort((one, other) => (one.position < other.position ? -1 : 1))
  }

  write(changes: Changes): void {
    this.build = { ...this.build, ...changes.build }
    for (const { id, set } of changes.steps) patch(this.steps, id, set)
    for (const { id, set } of changes.jobs) patch(this.jobs, id, set)
    for (const { row, definition } of changes.newSteps) {
      this.steps.set(row.id, row)
      this.definitions.set(row.id, definition)
    }
    for (const { row, work } of changes.newJobs) {
      this.jobs.set(row.id, row)
      append(this.jobIds, row.stepId, row.id)
      const own = work.kind === 'copy' ? this.work.get(work.of) : work
      if (own !== undefined) this.work.set(row.id, own)
    }
    for (const edge of changes.newEdges) append(this.outgoing, edge.from, edge)
    this.refs.push(...changes.newRefs)
    this.remove(changes)
  }

  private remove({ resolvedRefs, removedSteps, removedJobs }: Changes): void {
    for (const id of removedJobs) this.jobs.delete(id)
    for (const id of removedSteps) {
      for (const jobId of this.jobIds.get(id) ?? []) this.jobs.delete(jobId)
      this.steps.delete(id)
      this.outgoing.delete(id)
    }
    const gone = new Set(removedSteps)
    if (gone.size > 0) {
      for (const [from, edges] of this.outgoing) {
        this.outgoing.set(
          from,
          edges.filter((edge) => !gone.has(edge.to)),
        )
      }
    }
    const isResolved = (ref: RefRow): boolean =>
      resolvedRefs.some((other) => other.stepId === ref.stepId && other.ref === ref.ref)
    this.refs = this.refs.filter((ref) => !gone.has(ref.stepId) && !isResolved(ref))
  }
}

function patch<Row>(rows: Map<string, Row>, id: string, set: Partial<Row>): void {
  const row = rows.get(id)
  if (row !== undefined) rows.set(id, { ...row, ...set })
}

function append<Item>(lists: Map<string, Item[]>, key: string, item: Item): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [item])
  else list.push(item)
}
