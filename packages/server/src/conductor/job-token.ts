import type { Context } from '../context.ts'

type Signer = Pick<Context, 'keys'>

const purpose = 'job token'
const messageOf = (agentId: string, jobId: string) => `${jobId} ${agentId}`

/**
 * What a job shows to speak for itself: its id, and a code that only this installation can make for it and the agent that
 * has it. Nothing of it is kept, so it can be told again, and means nothing once another agent has the job.
 */
export function jobToken({ keys }: Signer, agentId: string, jobId: string): string {
  return `mrjt_${jobId.replaceAll('-', '')}${keys.sign(purpose, messageOf(agentId, jobId)).toString('hex')}`
}

export interface JobTokenParts {
  /** Of the job that it claims to speak for, as hexadecimal digits alone. */
  jobId: string
  code: Buffer
}

/** null: nothing that was ever given out. */
export function readJobToken(token: string): JobTokenParts | null {
  const [, jobId, code] = /^mrjt_([0-9a-f]{32})([0-9a-f]{32})$/.exec(token) ?? []
  return jobId === undefined || code === undefined ? null : { jobId, code: Buffer.from(code, 'hex') }
}

export const isCodeFor = ({ keys }: Signer, code: Buffer, agentId: string, jobId: string): boolean =>
  keys.verify(purpose, messageOf(agentId, jobId), code)
