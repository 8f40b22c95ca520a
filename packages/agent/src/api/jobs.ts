import type {
  AcceptRequest,
  FinishRequest,
  Job,
  JobStateResponse,
  JobUpdateRequest,
  JobUpdateResponse,
  PromiseFailureRequest,
  StartRequest,
} from '@millrace/protocol/jobs.ts'
import type { ChunkQuery } from '@millrace/protocol/logs.ts'
import { ask, path, send } from '../http/call.ts'
import type { Api } from '../http/call.ts'

export function accept(api: Api, jobId: string): Promise<Job> {
  const json: AcceptRequest = { start: true }
  return ask(api, 'accept', { method: 'PUT', path: path('jobs', jobId, 'accept'), json })
}

export function acquire(api: Api, jobId: string): Promise<Job> {
  return ask(api, 'acquire', {
    method: 'PUT',
    path: path('jobs', jobId, 'acquire'),
    headers: { 'X-Buildkite-Lock-Acquire-Job': '1', 'Buildkite-Timeout-Milliseconds': '330000' },
    sendsAttempt: true,
  })
}

export async function start(api: Api, jobId: string): Promise<void> {
  const json: StartRequest = { started_at: new Date(api.clock.now()).toISOString() }
  await send(api, 'start', { method: 'PUT', path: path('jobs', jobId, 'start'), json })
}

export function readState(api: Api, jobId: string): Promise<JobStateResponse> {
  return ask(api, 'jobState', { method: 'GET', path: path('jobs', jobId) })
}

export async function sendChunk(api: Api, jobId: string, query: ChunkQuery, gzipped: Buffer): Promise<void> {
  await send(api, 'chunk', {
    method: 'POST',
    path: path('jobs', jobId, 'chunks'),
    query: { ...query },
    bytes: { body: gzipped, type: 'text/plain', encoding: 'gzip' },
  })
}

export async function finish(api: Api, jobId: string, json: FinishRequest): Promise<void> {
  await send(api, 'finish', { method: 'PUT', path: path('jobs', jobId, 'finish'), json })
}

export function updateJob(api: Api, jobId: string, json: JobUpdateRequest): Promise<JobUpdateResponse> {
  return ask(api, 'jobUpdate', { method: 'PUT', path: path('jobs', jobId), json })
}

export async function promiseFailure(api: Api, jobId: string, json: PromiseFailureRequest): Promise<void> {
  await send(api, 'jobUpdate', { method: 'PUT', path: path('jobs', jobId, 'promise_failure'), json })
}
