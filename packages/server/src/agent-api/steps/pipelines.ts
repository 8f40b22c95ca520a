// Steps that a job adds to its own build. They are applied before the answer; the status exists for agents that ask for
// it nevertheless.
import type { PipelineUploadStatusResponse } from '@millrace/protocol/pipelines.ts'
import { uploadSteps } from '../../conductor/upload.ts'
import { ok } from '../../http/answer.ts'
import { notFound, refused } from '../../lib/errors.ts'
import { isUuid } from '../../lib/ids.ts'
import { readStepUpload } from './read-step-upload.ts'
import { agentRoute, done } from '../route.ts'

const upload = agentRoute({
  method: 'POST',
  url: '/v3/jobs/:job/pipelines',
  token: 'job',
  forks: 'own_job',
  bodyLimitBytes: 16 * 1024 * 1024,
  async handler({ ctx, job, request }) {
    const sent = await readStepUpload(request.body, {
      kind: 'upload',
      organizationId: job.organizationId,
      sender: job.id,
      until: request.gone(),
    })
    const outcome = await uploadSteps(ctx, job.organizationId, { ...sent, jobId: job.id })
    if (outcome === undefined) throw notFound('No job found')
    if (outcome.state === 'rejected') throw refused(outcome.message ?? 'The steps were rejected.')
    return outcome.message === null ? done() : ok({ message: outcome.message })
  },
})

const getStatus = agentRoute({
  method: 'GET',
  url: '/v3/jobs/:job/pipelines/:upload',
  token: 'job',
  forks: 'own_job',
  async handler({ ctx, job, params }) {
    const upload = params['upload'] ?? ''
    const found = isUuid(upload)
      ? await ctx.db
          .selectFrom('step_uploads')
          .select(['state', 'message'])
          .where('organization_id', '=', job.organizationId)
          .where('source_job_id', '=', job.id)
          .where('id', '=', upload)
          .executeTakeFirst()
      : undefined
    if (found === undefined) throw notFound('No pipeline upload found')
    const answer: PipelineUploadStatusResponse = {
      state: found.state as PipelineUploadStatusResponse['state'],
      message: found.message ?? '',
    }
    return ok(answer)
  },
})

export const pipelineApi = [upload, getStatus]
