// The messages between an agent and the process of a job.

import type { Job } from '@millrace/protocol/jobs.ts'
import type { Session } from '../http/session.ts'
import type { JobReport } from '../job/run-job.ts'
import type { JobLaunch } from '../settings.ts'

export type ToJobProcess = { kind: 'run'; work: JobWork } | { kind: 'let-go' }

export interface JobWork {
  options: JobLaunch['options']
  /** Has the job's token, never the agent's. */
  session: Session
  job: Job
  jobStatusIntervalSeconds: number
}

/** null: the server no longer wants the job. */
export interface FromJobProcess {
  report: JobReport | null
}
