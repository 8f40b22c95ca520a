// The changes of an advance, as rows to save.

import type { NewStep } from '../plan.ts'
import type { NewJob } from '../plan/jobs.ts'
import type { BuildRow, EdgeRow, JobRow, RefRow, StepRow } from '../rows.ts'
import type { Draft } from './draft.ts'

export interface Patch<Row> {
  id: string
  /** Only the columns that differ. */
  set: Partial<Row>
}

export interface Changes {
  /** null: nothing about the build itself differs. */
  build: Partial<BuildRow> | null
  steps: Patch<StepRow>[]
  jobs: Patch<JobRow>[]
  newSteps: NewStep[]
  newJobs: NewJob[]
  newEdges: EdgeRow[]
  newRefs: RefRow[]
  /** References that have become edges. */
  resolvedRefs: RefRow[]
  /** To be deleted with all their jobs, retried ones too, their references and their edges both ways. */
  removedSteps: string[]
  removedJobs: string[]
}

export function changesOf(draft: Draft): Changes {
  const changes: Changes = {
    build: differences(draft.buildBefore, draft.build),
    steps: [],
    jobs: [],
    newSteps: draft.newSteps.map(({ row, definition }) => ({ row: draft.step(row.id), definition })),
    newJobs: draft.newJobs.map(({ row, work }) => ({ row: draft.job(row.id), work })),
    newEdges: draft.newEdges,
    newRefs: draft.newRefs,
    resolvedRefs: draft.resolvedRefs,
    removedSteps: [],
    removedJobs: [],
  }
  for (const { before, after } of draft.stepPairs()) {
    if (before !== null) record(before, after, changes.steps, changes.removedSteps)
  }
  for (const { before, after } of draft.jobPairs()) {
    if (before !== null) record(before, after, changes.jobs, changes.removedJobs)
  }
  return changes
}

function record<Row extends { id: string }>(
  before: Row,
  after: Row | null,
  patches: Patch<Row>[],
  removed: string[],
): void {
  if (after === null) {
    removed.push(before.id)
    return
  }
  const set = differences(before, after)
  if (set !== null) patches.push({ id: before.id, set })
}

function differences<Row extends object>(before: Row, after: Row): Partial<Row> | null {
  const names = (Object.keys(after) as (keyof Row)[]).filter((name) => before[name] !== after[name])
  if (names.length === 0) return null
  const set: Partial<Row> = {}
  for (const name of names) set[name] = after[name]
  return set
}
