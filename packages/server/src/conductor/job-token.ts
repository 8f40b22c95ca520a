import type { Context } from '../context.ts'

/** What a job shows to speak for itself. Made from the keys of the installation, so that it need not be kept to be told again. */
export function jobToken({ keys }: Pick<Context, 'keys'>, agentId: string, jobId: string): string {
  return `mrjt_${keys.sign('job token', `${jobId} ${agentId}`).toString('hex')}`
}
