// Recomputes every counter of a build from its rows and says where the stored ones differ.

import { edgeTallyOf, NO_EDGE_TALLY, NO_UPLOAD_TALLY, uploadTallyOf } from '../src/dependencies.ts'
import { phaseOf } from '../src/advance/propagate.ts'
import { isManual } from '../src/dependencies.ts'
import type { Store } from '../src/memory/store.ts'
import type { BuildTally, EdgeTally, StepRow, StepTally, UploadTally } from '../src/rows.ts'
import { isFinal } from '../src/states.ts'
import { buildTallyOf, memberTallyOf, NO_BUILD_TALLY, NO_STEP_TALLY, stepTallyOf } from '../src/tally.ts'

export function findDrift(store: Store): string[] {
  const { build } = store
  const jobs = [...store.jobs.values()]
  const total = sum<BuildTally>(NO_BUILD_TALLY, jobs.map(buildTallyOf))
  const drift = compare('build', total, build)
  const impossible = [...store.steps.values()].filter((step) => step.impossible).length
  if (impossible !== build.impossible)
    drift.push(`build.impossible is ${build.impossible}, not ${impossible}`)
  const isOver = build.cancelRequested || build.state === 'skipped'
  const incoming = new Map<string, EdgeTally[]>()
  for (const edge of store.allEdges()) {
    const source = store.steps.get(edge.from)
    if (source === undefined || !store.steps.has(edge.to)) drift.push(`edge ${edge.from} dangles`)
    else append(incoming, edge.to, edgeTallyOf(source, edge))
  }
  const jobsOf = new Map<string, StepTally[]>()
  for (const job of jobs) append(jobsOf, job.stepId, stepTallyOf(job))
  const members = new Map<string, StepTally[]>()
  const uploads = new Map<string, UploadTally[]>()
  for (const step of store.steps.values()) {
    if (step.kind === 'group') continue
    if (step.groupId !== null) {
      append(members, step.groupId, memberTallyOf(step))
      append(uploads, step.groupId, uploadTallyOf(step))
    }
    if (step.uploaderId !== null) append(uploads, step.uploaderId, uploadTallyOf(step))
  }
  for (const step of store.steps.values()) {
    const of = step.kind === 'group' ? members : jobsOf
    drift.push(...compare(step.id, sum<StepTally>(NO_STEP_TALLY, of.get(step.id) ?? []), step))
    if (!isOver)
      drift.push(...compare(step.id, sum<EdgeTally>(NO_EDGE_TALLY, incoming.get(step.id) ?? []), step))
    drift.push(...compare(step.id, sum<UploadTally>(NO_UPLOAD_TALLY, uploads.get(step.id) ?? []), step))
    if (!isOver && step.kind !== 'group') drift.push(...misplaced(store, step))
  }
  return drift
}

function misplaced(store: Store, step: StepRow): string[] {
  const drift: string[] = []
  const missing = store.refs.filter((ref) => ref.stepId === step.id).length
  if (missing !== step.missing) drift.push(`${step.id}.missing is ${step.missing}, not ${missing}`)
  if (phaseOf(step) !== step.phase) drift.push(`${step.id} is ${step.phase}, not ${phaseOf(step)}`)
  for (const job of store.jobsOf(step.id)) {
    const isUnready = job.state === 'waiting' || job.state === 'blocked' || job.state === 'pending'
    if (isFinal(job.state)) continue
    if (step.phase === 'waiting' && job.state !== 'waiting')
      drift.push(`${job.id} is ${job.state}, not waiting`)
    if (step.phase === 'blocked' && job.state !== 'blocked')
      drift.push(`${job.id} is ${job.state}, not blocked`)
    if (step.phase === 'not_run') drift.push(`${job.id} is ${job.state} in a step that did not run`)
    if (step.phase === 'ready' && isUnready && !isManual(step))
      drift.push(`${job.id} is ${job.state} but free`)
  }
  return drift
}

function sum<Tally extends object>(zero: Tally, tallies: readonly Tally[]): Tally {
  if (tallies.length === 0) return zero
  const names = Object.keys(zero) as (keyof Tally)[]
  const total = (name: keyof Tally) => tallies.reduce((so, tally) => so + Number(tally[name]), 0)
  return Object.fromEntries(names.map((name) => [name, total(name)])) as Tally
}

function compare<Tally extends object>(name: string, expected: Tally, actual: Tally): string[] {
  return (Object.keys(expected) as (keyof Tally & string)[])
    .filter((key) => expected[key] !== actual[key])
    .map((key) => `${name}.${key} is ${String(actual[key])}, not ${String(expected[key])}`)
}

function append<Item>(lists: Map<string, Item[]>, key: string, item: Item): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [item])
  else list.push(item)
}
