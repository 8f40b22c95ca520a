// The rows of one advance: before, after, and which have been asked for so far. Counters
// of builds and steps are kept right by the two functions that change jobs; nothing else writes them but
// propagate.ts, which carries a step's change to the steps that count it.

import type { NewStep } from '../plan.ts'
import type { NewJob } from '../plan/jobs.ts'
import type { BuildRow, EdgeRow, JobRow, RefRow, StepRow } from '../rows.ts'
import { assertTransition, isFinal } from '../states.ts'
import { buildTallyOf, NO_BUILD_TALLY, NO_STEP_TALLY, shift, stepTallyOf } from '../tally.ts'
import type { Effect } from './effects.ts'
import type { Answer } from './needs.ts'

interface Pair<Row> {
  /** null: made by this advance. */
  before: Row | null
  /** null: removed by this advance. */
  after: Row | null
}

export class Draft {
  build: BuildRow
  readonly buildBefore: BuildRow
  readonly at: string
  readonly mint: () => string
  readonly effects: Effect[] = []
  readonly newSteps: NewStep[] = []
  readonly newJobs: NewJob[] = []
  readonly newEdges: EdgeRow[] = []
  readonly newRefs: RefRow[] = []
  readonly resolvedRefs: RefRow[] = []
  private readonly steps = new Map<string, Pair<StepRow>>()
  private readonly jobs = new Map<string, Pair<JobRow>>()
  /** Each step as the steps that count it last saw it. */
  private readonly seen = new Map<string, StepRow>()
  private readonly edges = new Map<string, EdgeRow[]>()
  private readonly jobIds = new Map<string, Set<string>>()
  private readonly fullJobs = new Set<string>()
  private changed = new Set<string>()
  private touched = new Set<string>()

  constructor(build: BuildRow, at: string, mint: () => string) {
    this.build = build
    this.buildBefore = build
    this.at = at
    this.mint = mint
  }

  take(answer: Answer): void {
    for (const step of answer.steps ?? []) {
      if (this.steps.has(step.id)) continue
      this.steps.set(step.id, { before: step, after: step })
      this.seen.set(step.id, step)
    }
    for (const job of answer.jobs ?? []) {
      if (!this.jobs.has(job.id)) this.holdJob(job, job)
    }
    const fresh = new Set((answer.edgesFrom ?? []).filter((id) => !this.edges.has(id)))
    for (const id of fresh)
      this.edges.set(
        id,
        this.newEdges.filter((edge) => edge.from === id),
      )
    for (const edge of answer.edges ?? []) if (fresh.has(edge.from)) this.edges.get(edge.from)?.push(edge)
    for (const id of answer.jobsOf ?? []) this.fullJobs.add(id)
  }

  findStep(id: string): StepRow | null {
    return this.steps.get(id)?.after ?? null
  }

  step(id: string): StepRow {
    const step = this.findStep(id)
    if (step === null) throw new Error(`Step ${id} was not loaded`)
    return step
  }

  hasStep(id: string): boolean {
    return this.steps.has(id)
  }

  findJob(id: string): JobRow | null {
    return this.jobs.get(id)?.after ?? null
  }

  job(id: string): JobRow {
    const job = this.findJob(id)
    if (job === null) throw new Error(`Job ${id} was not loaded`)
    return job
  }

  hasJobsOf(stepId: string): boolean {
    return this.fullJobs.has(stepId)
  }

  /** The loaded newest jobs of the step. */
  jobsOf(stepId: string): JobRow[] {
    const rows = [...(this.jobIds.get(stepId) ?? [])].map((id) => this.findJob(id))
    return rows.filter((job) => job !== null).filter((job) => job.retriedInJobId === null)
  }

  newestJobs(): JobRow[] {
    const rows = [...this.jobs.values()].map((pair) => pair.after)
    return rows.filter((job) => job !== null).filter((job) => job.retriedInJobId === null)
  }

  allSteps(): StepRow[] {
    return [...this.steps.values()].map((pair) => pair.after).filter((step) => step !== null)
  }

  removedSteps(): string[] {
    return [...this.steps].filter(([, pair]) => pair.after === null).map(([id]) => id)
  }

  hasEdgesFrom(stepId: string): boolean {
    return this.edges.has(stepId)
  }

  edgesFrom(stepId: string): readonly EdgeRow[] {
    return this.edges.get(stepId) ?? []
  }

  seenStep(id: string): StepRow {
    return this.seen.get(id) ?? this.step(id)
  }

  markSeen(step: StepRow): void {
    this.seen.set(step.id, step)
  }

  setStep(step: StepRow): void {
    const pair = this.steps.get(step.id)
    if (pair?.after === step) return
    this.steps.set(step.id, { before: pair?.before ?? null, after: step })
    this.changed.add(step.id)
  }

  /** Asks for the step's phase to be judged anew. */
  touch(stepId: string): void {
    this.touched.add(stepId)
  }

  takeChanged(): string[] {
    const ids = [...this.changed].filter((id) => this.findStep(id) !== null)
    this.changed = new Set()
    return ids
  }

  takeTouched(): string[] {
    const ids = [...this.touched].filter((id) => this.findStep(id) !== null)
    this.touched = new Set()
    return ids
  }

  moveJob(id: string, patch: Partial<JobRow>): JobRow {
    const before = this.job(id)
    let after: JobRow = { ...before, ...patch }
    if (before.state !== after.state) {
      assertTransition(before.state, after.state)
      after = { ...after, finishedAt: isFinal(after.state) ? this.at : null }
    }
    this.jobs.set(id, { before: this.jobs.get(id)?.before ?? null, after })
    this.count(before, after)
    return after
  }

  addJob(job: NewJob): void {
    this.newJobs.push(job)
    this.holdJob(null, job.row)
    this.build = { ...this.build, jobs: this.build.jobs + 1 }
    this.count(null, job.row)
  }

  removeJob(id: string): void {
    const before = this.job(id)
    this.jobs.set(id, { before: this.jobs.get(id)?.before ?? null, after: null })
    this.count(before, null)
  }

  addStep(step: NewStep): void {
    this.newSteps.push(step)
    this.steps.set(step.row.id, { before: null, after: step.row })
    this.edges.set(step.row.id, [])
    this.fullJobs.add(step.row.id)
  }

  removeStep(id: string): void {
    this.steps.set(id, { before: this.steps.get(id)?.before ?? null, after: null })
  }

  addEdge(edge: EdgeRow): void {
    this.newEdges.push(edge)
    this.edges.get(edge.from)?.push(edge)
  }

  *stepPairs(): Iterable<Pair<StepRow>> {
    for (const pair of this.steps.values()) if (pair.before !== pair.after) yield pair
  }

  *jobPairs(): Iterable<Pair<JobRow>> {
    for (const pair of this.jobs.values()) if (pair.before !== pair.after) yield pair
  }

  private holdJob(before: JobRow | null, after: JobRow): void {
    this.jobs.set(after.id, { before, after })
    const ids = this.jobIds.get(after.stepId)
    if (ids === undefined) this.jobIds.set(after.stepId, new Set([after.id]))
    else ids.add(after.id)
  }

  private count(before: JobRow | null, after: JobRow | null): void {
    const stepId = (after ?? before)?.stepId
    if (stepId === undefined) return
    this.build = shift(
      this.build,
      before === null ? NO_BUILD_TALLY : buildTallyOf(before),
      after === null ? NO_BUILD_TALLY : buildTallyOf(after),
    )
    const step = shift(
      this.step(stepId),
      before === null ? NO_STEP_TALLY : stepTallyOf(before),
      after === null ? NO_STEP_TALLY : stepTallyOf(after),
    )
    this.setStep(step)
  }
}
