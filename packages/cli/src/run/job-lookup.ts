// Finds jobs and their steps in the rows of a build.
import type { Store } from '@millrace/engine/memory/store.ts'
import type { JobRow } from '@millrace/engine/rows.ts'
import type { ManualWork, ScriptWork } from '@millrace/engine/work.ts'
import type { PlannedJob } from './facts.ts'

export function getScript(store: Store, job: JobRow): ScriptWork {
  const work = store.work.get(job.id)
  if (work?.kind !== 'script') throw new Error(`Job ${job.id} is no command`)
  return work
}

export function getManual(store: Store, job: JobRow): ManualWork {
  const work = store.work.get(job.id)
  if (work?.kind !== 'manual') throw new Error(`Job ${job.id} asks nobody`)
  return work
}

export function getPlannedJob(store: Store, job: JobRow): PlannedJob {
  const step = store.steps.get(job.stepId)
  if (step === undefined) throw new Error(`Job ${job.id} has no step`)
  const group = step.groupId === null ? undefined : store.steps.get(step.groupId)
  return {
    job,
    work: getScript(store, job),
    step,
    group:
      group === undefined
        ? null
        : { id: group.id, key: group.key, label: store.definitions.get(group.id)?.label ?? null },
  }
}

/** The next command job to start: by priority, then in the order of the build. */
export function findNextScript(store: Store): JobRow | undefined {
  const ready = store.newestJobs().filter((job) => job.state === 'scheduled' && job.kind === 'script')
  const positionOf = (job: JobRow): string => store.steps.get(job.stepId)?.position ?? ''
  const isBefore = (one: JobRow, other: JobRow): boolean => {
    const priority = getScript(store, one).priority - getScript(store, other).priority
    if (priority !== 0) return priority > 0
    const [position, otherPosition] = [positionOf(one), positionOf(other)]
    return position === otherPosition ? one.slot < other.slot : position < otherPosition
  }
  return ready.reduce<JobRow | undefined>(
    (best, job) => (best === undefined || isBefore(job, best) ? job : best),
    undefined,
  )
}
