import type { Job } from '@millrace/protocol/jobs.ts'
import type { JobLog } from '../log/job-log.ts'
import type { Settings } from '../settings.ts'

export interface SignatureVerdict {
  /** False: nothing of the job may run. */
  mayRun: boolean
  /** The variables that the accepted signature covers. null: no signature was accepted. */
  signed: ReadonlySet<string> | null
}

interface SignedJob {
  job: Job
  settings: Settings
  log: Pick<JobLog, 'say'>
}

/** Logs whether the signature meets the owner's settings. */
export async function checkSignature({ job, settings, log }: SignedJob): Promise<SignatureVerdict> {
  const { verificationKeys: keys, verificationFailure } = settings
  if (keys === null && !job.step?.signature) return { mayRun: true, signed: null }
  const result = await check()
  if (typeof result !== 'string') {
    log.say('~~~ Job signature verified')
    return { mayRun: true, signed: result }
  }
  const isBlocked = verificationFailure === 'block'
  log.say(`${isBlocked ? '+++' : '~~~'} Job signature verification failed`)
  log.say(`\x1b[31mThe signature of the job is not accepted: ${result}.\x1b[0m`)
  if (!isBlocked) log.say('The job runs nevertheless, because the owner of the agent said so.')
  return { mayRun: !isBlocked, signed: null }

  /** The signed variables, or the reason why the signature is not accepted. */
  async function check(): Promise<ReadonlySet<string> | string> {
    if (keys === null) return 'the step is signed, and this agent has no key to check signatures with'
    // Only agents that verify signatures load cryptography.
    const { findJobFault, signedVariables } = await import('../signing/check-job.ts')
    return (await findJobFault(job, keys)) ?? signedVariables(job)
  }
}
