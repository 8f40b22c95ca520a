import type { JobRun } from './run.ts'

/** Logs whether the signature meets the owner's settings. False: the job must not run. */
export async function checkSignature({ job, settings, log }: JobRun): Promise<boolean> {
  const { verificationKeys: keys, verificationFailure } = settings
  if (keys === null && !job.step?.signature) return true
  const fault = await findFault()
  if (fault === null) {
    log.say('~~~ Job signature verified')
    return true
  }
  const isBlocked = verificationFailure === 'block'
  log.say(`${isBlocked ? '+++' : '~~~'} Job signature verification failed`)
  log.say(`\x1b[31mThe signature of the job is not accepted: ${fault}.\x1b[0m`)
  if (!isBlocked) log.say('The job runs nevertheless, because the owner of the agent said so.')
  return !isBlocked

  async function findFault(): Promise<string | null> {
    if (keys === null) return 'the step is signed, and this agent has no key to check signatures with'
    // Only agents that verify signatures load cryptography.
    const { findJobFault } = await import('../signing/check-job.ts')
    return findJobFault(job, keys)
  }
}
