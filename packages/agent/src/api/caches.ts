import type {
  StepCacheRestoreRequest,
  StepCacheRestoreResponse,
  StepCacheSaveRequest,
  StepCacheSaveResponse,
  StepCacheUploadsRequest,
  StepCacheUploadsResponse,
} from '@millrace/protocol/step-caches.ts'
import { ask, path, send } from '../http/call.ts'
import type { Api } from '../http/call.ts'
import { exchange } from '../http/exchange.ts'
import { Refused, repeat } from '../http/retry.ts'
import { RETRIES } from '../http/retry-table.ts'
import { waitFor } from '../http/wait-table.ts'
import { USER_AGENT } from '../version.ts'

export function restoreCache(
  api: Api,
  jobId: string,
  json: StepCacheRestoreRequest,
): Promise<StepCacheRestoreResponse> {
  return ask(api, 'cache', {
    method: 'POST',
    path: path('jobs', jobId, 'cache', 'restore'),
    json,
  })
}

export function announceBlobs(
  api: Api,
  jobId: string,
  json: StepCacheUploadsRequest,
): Promise<StepCacheUploadsResponse> {
  return ask(api, 'cache', { method: 'POST', path: path('jobs', jobId, 'cache', 'uploads'), json })
}

export function saveCache(
  api: Api,
  jobId: string,
  json: StepCacheSaveRequest,
): Promise<StepCacheSaveResponse> {
  return ask(api, 'cache', { method: 'PUT', path: path('jobs', jobId, 'cache'), json })
}

export async function reportDamage(api: Api, jobId: string, digest: string): Promise<void> {
  await send(api, 'cache', { method: 'POST', path: path('jobs', jobId, 'cache', 'damage'), json: { digest } })
}

/** The address is absolute, or relative to the endpoint. */
export function readBlob(api: Api, url: string): Promise<Buffer> {
  return transfer(api, 'GET', url, Buffer.alloc(0))
}

export async function writeBlob(api: Api, url: string, body: Buffer): Promise<void> {
  await transfer(api, 'PUT', url, body)
}

async function transfer(api: Api, method: 'GET' | 'PUT', url: string, body: Buffer): Promise<Buffer> {
  const at = new URL(url, `${api.session.endpoint}/`)
  return await repeat(RETRIES.cacheBytes, api, async () => {
    const answer = await exchange({
      method,
      url: at,
      headers: { 'User-Agent': USER_AGENT, 'Content-Type': 'application/octet-stream' },
      body,
      wait: waitFor('cacheBytes', 0),
      signal: api.signal,
    })
    if (answer.status >= 200 && answer.status <= 299) return answer.body
    throw new Refused(`${method} ${at.origin}${at.pathname}`, answer.status, '', null)
  })
}
