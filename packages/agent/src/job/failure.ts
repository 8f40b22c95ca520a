import type { AgentSignalReason } from '@millrace/protocol/jobs.ts'

/** Ends the job. Its remaining phases are skipped, except those that always run. */
export class JobFailure extends Error {
  readonly exitStatus: number
  readonly signalReason: AgentSignalReason | null
  constructor(message: string, exitStatus = 1, signalReason: AgentSignalReason | null = null) {
    super(message)
    this.name = 'JobFailure'
    this.exitStatus = exitStatus
    this.signalReason = signalReason
  }
}

/** The repository does not have what the build names, so another attempt ends the same way. */
export class MissingRevision extends JobFailure {}
