// Turns a pipeline document into the steps, jobs and edges of a new build, or of an upload into a running one.
//
// Planning decides what exists: which steps are ignored, how many jobs each makes, and what each must wait
// for. It decides no state; every new job that may run is `pending` until advance.ts has looked at it. A plan
// is refused as a whole, so a bad upload adds nothing.

import type { ConditionFacts } from './conditions/facts.ts'
import { NO_EDGE_TALLY, NO_UPLOAD_TALLY } from './dependencies.ts'
import { barrierOf, wire } from './plan/dependencies.ts'
import type { UploadContext, Wiring } from './plan/dependencies.ts'
import { Graph } from './plan/graph.ts'
import { jobsOf } from './plan/jobs.ts'
import type { NewJob } from './plan/jobs.ts'
import { isGroup, leavesOf, placeSteps } from './plan/placing.ts'
import type { Placed, PlacedGroup, PlacedLeaf } from './plan/placing.ts'
import { positionBehind, positionInBuild } from './plan/positions.ts'
import type { StepRow } from './rows.ts'
import type { PipelineDocument, StepDefinition } from './steps/types.ts'
import { NO_STEP_TALLY } from './tally.ts'

const MAX_JOBS_PER_UPLOAD = 500
export const MAX_JOBS_PER_BUILD = 4000
const MAX_UPLOADS_PER_BUILD = 500

export interface NewStep {
  row: StepRow
  definition: StepDefinition
}

export interface Plan extends Wiring {
  /** In display order. */
  steps: NewStep[]
  jobs: NewJob[]
}

export interface PlanContext {
  mint: () => string
  at: string
  /** Inherited by the new jobs from the build or the uploading job. */
  scheduledAt: string
  jobsInBuild: number
  uploadsInBuild: number
  /** null: a new build. */
  upload: UploadContext | null
}

export type PlanResult = { ok: true; plan: Plan } | { ok: false; message: string }

export function plan(document: PipelineDocument, facts: ConditionFacts, context: PlanContext): PlanResult {
  const parts = planInParts(document, facts, context)
  for (;;) {
    const part = parts.next()
    if (part.done) return part.value
  }
}

/** The same with pauses, so that the caller can do something else while thousands of jobs are planned. */
export function* planInParts(
  document: PipelineDocument,
  facts: ConditionFacts,
  context: PlanContext,
): Generator<void, PlanResult> {
  const { upload, uploadsInBuild, mint } = context
  if (upload !== null && uploadsInBuild >= MAX_UPLOADS_PER_BUILD) {
    return refuse(`A build takes at most ${MAX_UPLOADS_PER_BUILD} uploads`)
  }
  const positionAt = (index: number): string =>
    upload === null ? positionInBuild(index) : positionBehind(upload.behind.position, uploadsInBuild, index)
  const steps = placeSteps(document.steps, { facts, mint, positionAt })
  if (!steps.ok) return steps
  yield
  const { placed } = steps
  const taken = findTakenKey(placed, upload)
  if (taken !== null) return refuse(`The key "${taken}" is already used by another step of this build`)
  const jobs = makeJobs(leavesOf(placed), context)
  if (!jobs.ok) return jobs
  yield
  const wiring = wire(placed, upload)
  yield
  const missing = countMissing(wiring)
  const rows = placed.flatMap((item) => rowsOf(item, upload, missing))
  yield
  const cycle = findCycle(rows, wiring)
  if (cycle !== null) return refuse(cycle)
  return { ok: true, plan: { steps: rows, jobs: jobs.jobs, ...wiring } }
}

function makeJobs(
  leaves: readonly PlacedLeaf[],
  context: PlanContext,
): { ok: true; jobs: NewJob[] } | { ok: false; message: string } {
  const jobs: NewJob[] = []
  for (const leaf of leaves) {
    const made = jobsOf(leaf, context)
    if (!made.ok) return made
    jobs.push(...made.jobs)
  }
  if (context.upload !== null && jobs.length > MAX_JOBS_PER_UPLOAD) {
    return refuse(`An upload adds at most ${MAX_JOBS_PER_UPLOAD} jobs, this one has ${jobs.length}`)
  }
  if (context.jobsInBuild + jobs.length > MAX_JOBS_PER_BUILD) {
    return refuse(`A build has at most ${MAX_JOBS_PER_BUILD} jobs`)
  }
  return { ok: true, jobs }
}

function findTakenKey(placed: readonly Placed[], upload: UploadContext | null): string | null {
  const taken = new Set<string | null>(upload?.keyed.map((step) => step.key))
  const keys = placed.flatMap((item) => [
    item.step.key,
    ...(isGroup(item) ? item.members.map((member) => member.step.key) : []),
  ])
  for (const key of keys) {
    if (key === null) continue
    if (taken.has(key)) return key
    taken.add(key)
  }
  return null
}

function rowsOf(item: Placed, upload: UploadContext | null, missing: ReadonlyMap<string, number>): NewStep[] {
  if (!isGroup(item)) return [{ row: leafRow(item, upload, missing), definition: item.step }]
  return [
    { row: groupRow(item, upload), definition: item.step },
    ...item.members.map((leaf) => ({ row: leafRow(leaf, upload, missing), definition: leaf.step })),
  ]
}

function leafRow(
  leaf: PlacedLeaf,
  upload: UploadContext | null,
  missing: ReadonlyMap<string, number>,
): StepRow {
  return {
    ...blankRow(leaf, upload),
    groupId: leaf.groupId,
    barrier: barrierOf(leaf),
    continueOnFailure: leaf.step.kind === 'wait' && leaf.step.continueOnFailure,
    phase: leaf.ignored === null ? 'new' : 'ignored',
    missing: missing.get(leaf.id) ?? 0,
  }
}

function countMissing(wiring: Wiring): Map<string, number> {
  const missing = new Map<string, number>()
  for (const { stepId } of wiring.refs) missing.set(stepId, (missing.get(stepId) ?? 0) + 1)
  return missing
}

function groupRow(group: PlacedGroup, upload: UploadContext | null): StepRow {
  return { ...blankRow(group, upload), phase: 'ready' }
}

function blankRow(item: Placed, upload: UploadContext | null): StepRow {
  const uploader = upload?.uploader ?? null
  return {
    id: item.id,
    kind: item.step.kind,
    key: item.step.key,
    position: item.position,
    groupId: null,
    uploaderId: uploader?.id ?? null,
    uploadPath: uploader === null ? [] : [...uploader.uploadPath, uploader.id],
    barrier: null,
    continueOnFailure: false,
    phase: 'new',
    missing: 0,
    impossible: false,
    ...NO_STEP_TALLY,
    ...NO_EDGE_TALLY,
    ...NO_UPLOAD_TALLY,
  }
}

function findCycle(steps: readonly NewStep[], wiring: Wiring): string | null {
  const graph = new Graph()
  for (const { row } of steps) graph.addStep(row)
  for (const edge of wiring.edges) graph.addEdge(edge)
  return describeCycle(graph, steps)
}

/** A sentence naming the steps that wait for each other; null when none do. */
export function describeCycle(graph: Graph, steps: readonly NewStep[]): string | null {
  const cyclic = new Set(graph.findCyclic())
  if (cyclic.size === 0) return null
  const names = steps.flatMap(({ row }) => (cyclic.has(row.id) && row.key !== null ? [`"${row.key}"`] : []))
  return names.length === 0
    ? 'The steps depend on each other in a circle'
    : `The steps ${names.join(', ')} depend on each other in a circle`
}

function refuse(message: string): { ok: false; message: string } {
  return { ok: false, message }
}
