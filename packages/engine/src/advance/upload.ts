// A job adds steps to its build, right behind its own step or behind the group that step is in.
//
// Steps further back that wait for the uploader wait for the new steps as well, without being touched: their
// edge is to the uploader and everything it uploaded. That makes a loop possible: a step in front of the new
// ones may itself be waiting for the uploader. Barriers simply do not wait for such steps; a new step that
// names one, directly or not, is refused.

import { describeCycle, plan } from '../plan.ts'
import type { Plan } from '../plan.ts'
import { Graph } from '../plan/graph.ts'
import { positionBehind } from '../plan/positions.ts'
import type { EdgeRow, JobRow, RefRow, StepRow } from '../rows.ts'
import { isFinalBuild } from '../states.ts'
import type { PipelineDocument } from '../steps/types.ts'
import { loadDependents, loadJob, loadKin, loadSteps } from './ask.ts'
import { attach, joinSteps } from './attach.ts'
import type { Draft } from './draft.ts'
import type { EventOf } from './events.ts'
import type { Asking, Surroundings, SurroundingsNeed } from './needs.ts'
import { refuse } from './refusal.ts'
import type { Refusal } from './refusal.ts'
import { clearUnstarted } from './replace.ts'

const NOTHING: Surroundings = { barrierBefore: null, earlier: [], barrierAfter: null, keyed: [], refs: [] }

export function* upload(draft: Draft, event: EventOf<'upload'>): Asking<Refusal | null> {
  const job = yield* loadJob(draft, event.jobId)
  if (job === null) return refuse('not_found', 'No job found')
  if (job.startedAt === null) return refuse('wrong_state', 'Only a job that has started can upload steps')
  const { build } = draft
  if (build.cancelRequested) return refuse('build_canceled', 'The build has been canceled')
  if (isFinalBuild(build.state)) return refuse('build_finished', 'The build has finished')
  const uploader = draft.step(job.stepId)
  yield* loadKin(draft, [uploader])
  if (event.replace) yield* clearUnstarted(draft)
  const behind = uploader.groupId === null ? uploader : draft.step(uploader.groupId)
  const around = yield* readSurroundings(draft, event.document, behind)
  const graph = yield* graphBehind(draft, uploader, around)
  const planned = planUpload(draft, event, { job, uploader, behind, around, graph })
  if (!planned.ok) return refuse('invalid_upload', planned.message)
  const resolved = around.refs.flatMap((ref) => edgesFor(ref, planned.plan))
  const cycle = closeGraph(graph, planned.plan, resolved)
  if (cycle !== null) return refuse('invalid_upload', cycle)
  draft.build = { ...draft.build, uploads: draft.build.uploads + 1 }
  attach(draft, planned.plan)
  for (const edge of resolved) joinSteps(draft, edge)
  for (const ref of around.refs) resolveRef(draft, ref)
  coverByNext(draft, uploader, around, planned.plan, graph)
  return null
}

interface Site {
  job: JobRow
  uploader: StepRow
  behind: StepRow
  around: Surroundings
  graph: Graph
}

function planUpload(draft: Draft, event: EventOf<'upload'>, site: Site): ReturnType<typeof plan> {
  const { job, uploader, behind, around, graph } = site
  const path = pathOf(uploader)
  const waiting = graph.behindWhole(path)
  const mayCover = (id: string): boolean => path.includes(id) || !waiting.has(id)
  const barrier = around.barrierBefore === null ? null : draft.step(around.barrierBefore)
  return plan(event.document, event.facts, {
    mint: draft.mint,
    at: draft.at,
    scheduledAt: job.scheduledAt,
    jobsInBuild: draft.build.jobs,
    uploadsInBuild: draft.build.uploads,
    upload: {
      uploader,
      behind,
      barrier: barrier !== null && mayCover(barrier.id) ? barrier : null,
      earlier: around.earlier.filter(mayCover).map((id) => draft.step(id)),
      keyed: around.keyed.map((id) => draft.step(id)),
    },
  })
}

function* readSurroundings(draft: Draft, document: PipelineDocument, behind: StepRow): Asking<Surroundings> {
  const need: SurroundingsNeed = {
    kind: 'surroundings',
    position: positionBehind(behind.position, draft.build.uploads, 0),
    without: draft.removedSteps(),
    ...wordsOf(document),
  }
  const answer = yield need
  draft.take(answer)
  const around = answer.surroundings ?? NOTHING
  yield* loadSteps(
    draft,
    around.refs.map((ref) => ref.stepId),
  )
  return around
}

function wordsOf(document: PipelineDocument): Pick<SurroundingsNeed, 'coversEarlier' | 'keys' | 'refs'> {
  const steps = document.steps.flatMap((step) => (step.kind === 'group' ? [step, ...step.steps] : [step]))
  const coversEarlier = document.steps.some(
    (step) => (step.kind === 'wait' || step.kind === 'block') && step.dependsOn === null,
  )
  return {
    coversEarlier,
    keys: steps.map((step) => step.key).filter((key) => key !== null),
    refs: steps.flatMap((step) => (step.dependsOn ?? []).map((dependency) => dependency.ref)),
  }
}

/**
 * The steps behind the uploader and behind the steps that will gain an edge. Nothing is asked when the new
 * steps cannot come to wait for any of them.
 */
function* graphBehind(draft: Draft, uploader: StepRow, around: Surroundings): Asking<Graph> {
  const graph = new Graph()
  const path = pathOf(uploader)
  const next = barrierToJoin(draft, uploader, around)
  const sources = [...around.earlier, ...around.keyed, around.barrierBefore, next?.id ?? null]
  const mayLoop = sources.some((id) => id !== null && !path.includes(id) && mayWait(draft.step(id)))
  if (!mayLoop) return graph
  const known = new Set<string>()
  const starts = [...path, ...around.refs.map((ref) => ref.stepId), ...(next === null ? [] : [next.id])]
  let frontier = withGroups(draft, starts)
  while (frontier.length > 0) {
    yield* loadDependents(draft, frontier, 'all')
    const edges = frontier.flatMap((id) => draft.edgesFrom(id))
    for (const id of frontier) known.add(id)
    for (const edge of edges) graph.addEdge(edge)
    const targets = edges.map((edge) => edge.to)
    yield* loadSteps(draft, targets)
    const waiting = targets.filter((id) => isOpenAhead(draft, id))
    frontier = withGroups(draft, waiting).filter((id) => !known.has(id))
  }
  for (const id of known) graph.addStep(draft.step(id))
  return graph
}

function closeGraph(graph: Graph, planned: Plan, resolved: EdgeRow[]): string | null {
  for (const { row } of planned.steps) graph.addStep(row)
  for (const edge of [...planned.edges, ...resolved]) graph.addEdge(edge)
  return describeCycle(graph, planned.steps)
}

function edgesFor(ref: RefRow, planned: Plan): EdgeRow[] {
  const named = planned.steps.find(({ row }) => row.key === ref.ref)?.row
  if (named === undefined || named.phase === 'ignored') return []
  const { stepId, allowFailure } = ref
  return [{ from: named.id, to: stepId, kind: 'named', allowFailure, whole: true }]
}

function resolveRef(draft: Draft, ref: RefRow): void {
  const step = draft.step(ref.stepId)
  draft.setStep({ ...step, missing: step.missing - 1 })
  draft.touch(step.id)
  draft.resolvedRefs.push(ref)
}

function coverByNext(
  draft: Draft,
  uploader: StepRow,
  around: Surroundings,
  planned: Plan,
  graph: Graph,
): void {
  const next = barrierToJoin(draft, uploader, around)
  if (next === null) return
  const waiting = graph.behind([next.id])
  const leaves = planned.steps.map(({ row }) => row).filter((row) => row.kind !== 'group')
  const lastFull = leaves.findLastIndex((row) => row.barrier === 'full' && row.groupId === null)
  for (const row of leaves.slice(Math.max(lastFull, 0))) {
    if (row.phase === 'ignored' || waiting.has(row.id)) continue
    joinSteps(draft, {
      from: row.id,
      to: next.id,
      kind: 'covers',
      allowFailure: next.continueOnFailure,
      whole: true,
    })
  }
}

// A barrier that this uploader itself uploaded earlier waits for the uploader's own end only, so it must be
// joined to the new steps one by one. Any other barrier further back already waits for all it uploads.
function barrierToJoin(draft: Draft, uploader: StepRow, around: Surroundings): StepRow | null {
  const next = around.barrierAfter === null ? null : draft.step(around.barrierAfter)
  return next !== null && next.uploadPath.includes(uploader.id) ? next : null
}

function pathOf(uploader: StepRow): string[] {
  return [...uploader.uploadPath, uploader.id]
}

function isWaiting(step: StepRow): boolean {
  return step.phase === 'waiting' || step.phase === 'blocked' || step.phase === 'not_run'
}

function withGroups(draft: Draft, ids: readonly string[]): string[] {
  const groups = ids.map((id) => draft.step(id).groupId).filter((id) => id !== null)
  return [...new Set([...ids, ...groups])]
}

function mayWait(step: StepRow): boolean {
  return isWaiting(step) || step.uploadsOpen > 0
}

function isOpenAhead(draft: Draft, id: string): boolean {
  const step = draft.findStep(id)
  return step !== null && isWaiting(step)
}
