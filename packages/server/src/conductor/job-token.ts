import type { Context } from '../context.ts'

type Signer = Pick<Context, 'keys'>

const purpose = 'job token'
const messageOf = (agentId: string, jobId: string) => `${jobId} ${agentId}`

/**
 * A job's credential: its id, and a signature over the ids of the job and its agent. It is not stored, so it can be
 * created again at any time, and is invalid as soon as another agent has the job.
 */
export function jobToken({ keys }: Signer, agentId: string, jobId: string): string {
  return `mrjt_${jobId.replaceAll('-', '')}${keys.sign(purpose, messageOf(agentId, jobId)).toString('hex')}`
}

interface JobTokenParts {
  /** The id of the claimed job, without dashes. */
  jobId: string
  code: Buffer
}

/** null: not a job token. */
export function readJobToken(token: string): JobTokenParts | null {
  const [, jobId, code] = /^mrjt_([0-9a-f]{32})([0-9a-f]{32})$/.exec(token) ?? []
  return jobId === undefined || code === undefined ? null : { jobId, code: Buffer.from(code, 'hex') }
}

export const isCodeFor = ({ keys }: Signer, code: Buffer, agentId: string, jobId: string): boolean =>
  keys.verify(purpose, messageOf(agentId, jobId), code)
