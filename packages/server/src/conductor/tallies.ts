// The counts of a pipeline's builds and jobs in each phase. Every change adds its difference, in its own transaction;
// nothing is ever recounted.
import { sql } from 'kysely'
import type { BuildState, JobState } from '@millrace/engine/states.ts'
import { prepared, type Statement } from '../db/statement.ts'

interface PipelineTally {
  scheduled_builds: number
  running_builds: number
  scheduled_jobs: number
  running_jobs: number
  waiting_jobs: number
}

type Counter = keyof PipelineTally

/**
 * A pipeline's counts are the sum of this many rows. Each connection adds to one of them, so that concurrent changes of a
 * pipeline do not wait for each other.
 */
const slots = 64

const add = prepared(
  (
    pipelineId: string,
    scheduledBuilds: number,
    runningBuilds: number,
    scheduledJobs: number,
    runningJobs: number,
    waitingJobs: number,
  ) => sql`
    insert into pipeline_tallies as t
      (pipeline_id, slot, scheduled_builds, running_builds, scheduled_jobs, running_jobs, waiting_jobs)
    values (${pipelineId}, pg_backend_pid() % ${sql.lit(slots)}, ${scheduledBuilds}, ${runningBuilds}, ${scheduledJobs},
      ${runningJobs}, ${waitingJobs})
    on conflict (pipeline_id, slot) do update set
      scheduled_builds = t.scheduled_builds + excluded.scheduled_builds,
      running_builds = t.running_builds + excluded.running_builds,
      scheduled_jobs = t.scheduled_jobs + excluded.scheduled_jobs,
      running_jobs = t.running_jobs + excluded.running_jobs,
      waiting_jobs = t.waiting_jobs + excluded.waiting_jobs`,
)

export class TallyUpdate {
  private readonly differences = new Map<Counter, number>()

  job(from: JobState | null, to: JobState | null): void {
    this.move(from === null ? null : jobPhase(from), to === null ? null : jobPhase(to))
  }

  build(from: BuildState | null, to: BuildState): void {
    this.move(from === null ? null : buildPhase(from), buildPhase(to))
  }

  /** The last statement of a transaction, so that the row is locked as briefly as possible. */
  save(pipelineId: string): Statement[] {
    const changed = [...this.differences].filter(([, by]) => by !== 0)
    if (changed.length === 0) return []
    const by = (counter: Counter) => this.differences.get(counter) ?? 0
    return [
      add(
        pipelineId,
        by('scheduled_builds'),
        by('running_builds'),
        by('scheduled_jobs'),
        by('running_jobs'),
        by('waiting_jobs'),
      ),
    ]
  }

  private move(from: Counter | null, to: Counter | null): void {
    if (from === to) return
    if (from !== null) this.differences.set(from, (this.differences.get(from) ?? 0) - 1)
    if (to !== null) this.differences.set(to, (this.differences.get(to) ?? 0) + 1)
  }
}

function buildPhase(state: BuildState): Counter | null {
  if (state === 'creating' || state === 'scheduled') return 'scheduled_builds'
  return state === 'running' || state === 'failing' || state === 'canceling' ? 'running_builds' : null
}

/** A job that an agent has but did not start counts as scheduled, so that assigning it changes no count. */
function jobPhase(state: JobState): Counter | null {
  switch (state) {
    case 'pending':
    case 'waiting':
    case 'blocked':
      return 'waiting_jobs'
    case 'limiting':
    case 'limited':
    case 'scheduled':
    case 'reserved':
    case 'assigned':
    case 'accepted':
      return 'scheduled_jobs'
    case 'running':
    case 'timing_out':
    case 'canceling':
      return 'running_jobs'
    case 'unblocked':
    case 'waiting_failed':
    case 'blocked_failed':
    case 'unblocked_failed':
    case 'broken':
    case 'passed':
    case 'failed':
    case 'timed_out':
    case 'canceled':
    case 'expired':
    case 'skipped':
      return null
  }
}
