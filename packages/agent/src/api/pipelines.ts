import type { PipelineUploadRequest, PipelineUploadStatusResponse } from '@millrace/protocol/pipelines.ts'
import { path, send } from '../http/call.ts'
import type { Api } from '../http/call.ts'
import type { Answer } from '../http/exchange.ts'

const DEFAULT_WAIT_SECONDS = 1
const MAX_CHECKS = 600

/**
 * Returns the server's warnings when the steps are part of the build. Throws if the server refuses them.
 */
export async function uploadPipeline(
  api: Api,
  jobId: string,
  json: PipelineUploadRequest,
): Promise<string | null> {
  const answer = await send(api, 'pipelineUpload', {
    method: 'POST',
    path: path('jobs', jobId, 'pipelines'),
    query: { async: 'true' },
    json,
    sendsAttempt: true,
  })
  if (answer.status !== 202) return readMessage(answer.body.toString())
  await waitUntilApplied(api, jobId, json.uuid, answer)
  return null
}

function readMessage(text: string): string | null {
  const { message } = (text.trim().startsWith('{') ? JSON.parse(text) : {}) as { message?: unknown }
  return typeof message === 'string' && message !== '' ? message : null
}

async function waitUntilApplied(api: Api, jobId: string, uuid: string, accepted: Answer): Promise<void> {
  const location = accepted.headers.location ?? ''
  if (location !== '' && !location.includes(`jobs/${jobId}/pipelines/${uuid}`)) {
    throw new Error(`the server points to another upload: ${location}`)
  }
  let seconds = waitOf(accepted)
  for (let check = 0; check < MAX_CHECKS; check += 1) {
    await api.clock.sleep(seconds * 1000, api.signal)
    const answer = await send(api, 'pipelineUploadStatus', {
      method: 'GET',
      path: path('jobs', jobId, 'pipelines', uuid),
      sendsAttempt: true,
    })
    const { state, message } = JSON.parse(answer.body.toString()) as PipelineUploadStatusResponse
    if (state === 'applied') return
    if (state !== 'pending' && state !== 'processing') throw new Error(`the upload was ${state}: ${message}`)
    seconds = waitOf(answer)
  }
  throw new Error('the upload is still being processed')
}

function waitOf(answer: Answer): number {
  const seconds = Number.parseFloat(answer.headers['retry-after'] ?? '')
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : DEFAULT_WAIT_SECONDS
}
