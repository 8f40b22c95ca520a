// The result of a build.
import type { Store } from '@millrace/engine/memory/store.ts'
import type { JobRow } from '@millrace/engine/rows.ts'
import { shownJobState, type BuildState, type JobState } from '@millrace/engine/states.ts'
import { nameOfJob } from './names.ts'

export interface RunReport {
  state: BuildState
  /** The newest attempt of every job except waits, in the order of the build. */
  jobs: JobReport[]
}

interface JobReport {
  label: string
  state: JobState
  /** It failed, and the build ignores the failure. */
  soft_failed?: true
  exit_status: number | null
  /** null: it never started. */
  seconds: number | null
}

/** The job that uploaded the file is not part of the pipeline. */
export function reportOn(store: Store, uploaderId: string): RunReport {
  const rows = store
    .stepsInOrder()
    .flatMap((step) => store.jobsOf(step.id))
    .filter((job) => job.kind !== 'waiter' && job.id !== uploaderId)
  const { state } = store.build
  const didNothing = state === 'passed' && rows.every((job) => job.state === 'broken')
  return {
    state: didNothing ? 'not_run' : state,
    jobs: rows.map((job) => ({
      label: nameOfJob(store, job),
      state: shownJobState(job.state),
      ...(job.softFailed ? { soft_failed: true } : {}),
      exit_status: job.exitStatus,
      seconds: job.kind === 'script' ? secondsOf(job) : null,
    })),
  }
}

export function secondsOf({ startedAt, finishedAt }: JobRow): number | null {
  if (startedAt === null || finishedAt === null) return null
  return (Date.parse(finishedAt) - Date.parse(startedAt)) / 1000
}

export function describeReport({ state, jobs }: RunReport): string {
  switch (state) {
    case 'passed':
      return 'The build passed.'
    case 'failed':
      return `The build failed${listOf(jobs)}.`
    case 'blocked':
      return 'The build waits for somebody to let it through. With --unblock it goes on without asking.'
    case 'not_run':
      return 'The build had nothing to run.'
    case 'canceled':
      return 'The build was canceled.'
    case 'creating':
    case 'scheduled':
    case 'running':
    case 'failing':
    case 'canceling':
    case 'skipped':
      return `The build is ${state}.`
  }
}

const BAD_ENDS = new Set<JobState>(['failed', 'timed_out', 'canceled'])

function listOf(jobs: readonly JobReport[]): string {
  const names = jobs
    .filter((job) => BAD_ENDS.has(job.state) && job.soft_failed !== true)
    .map((job) => job.label)
  return names.length === 0 ? '' : `: ${names.join(', ')}`
}
