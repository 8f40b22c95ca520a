// What an agent and the process of a job say to each other.

import type { Job } from '@millrace/protocol/jobs.ts'
import type { Session } from '../http/session.ts'
import type { JobReport } from '../job/run-job.ts'
import type { JobLaunch } from './launch.ts'

export type ToJobProcess = { kind: 'run'; work: JobWork } | { kind: 'let-go' }

export interface JobWork {
  options: JobLaunch['options']
  /** With the job's token: the agent's own stays with the agent. */
  session: Session
  job: Job
  jobStatusIntervalSeconds: number
}

/** null: the server no longer wanted the job. */
export interface FromJobProcess {
  report: JobReport | null
}
