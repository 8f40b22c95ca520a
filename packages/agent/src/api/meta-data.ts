import type {
  MetaDataExistsResponse,
  MetaDataGetResponse,
  MetaDataItem,
  MetaDataKeysResponse,
} from '@millrace/protocol/meta-data.ts'
import { ask, path, send } from '../http/call.ts'
import type { Api } from '../http/call.ts'

/** Meta-data belongs to a build, which is addressed by one of its jobs. */
export interface MetaDataOwner {
  kind: 'jobs' | 'builds'
  id: string
}

export async function setMetaData(api: Api, jobId: string, json: MetaDataItem): Promise<void> {
  await send(api, 'metaDataSet', { method: 'POST', path: path('jobs', jobId, 'data', 'set'), json })
}

export async function setMetaDataBatch(api: Api, jobId: string, items: MetaDataItem[]): Promise<void> {
  const json = { items }
  await send(api, 'metaDataSetBatch', {
    method: 'POST',
    path: path('jobs', jobId, 'data', 'set-batch'),
    json,
  })
}

export function getMetaData(
  api: Api,
  { kind, id }: MetaDataOwner,
  key: string,
): Promise<MetaDataGetResponse> {
  return ask(api, 'metaDataRead', { method: 'POST', path: path(kind, id, 'data', 'get'), json: { key } })
}

export async function hasMetaData(api: Api, { kind, id }: MetaDataOwner, key: string): Promise<boolean> {
  const answer = await ask<MetaDataExistsResponse>(api, 'metaDataRead', {
    method: 'POST',
    path: path(kind, id, 'data', 'exists'),
    json: { key },
  })
  return answer.exists
}

export function listMetaDataKeys(api: Api, { kind, id }: MetaDataOwner): Promise<MetaDataKeysResponse> {
  return ask(api, 'metaDataRead', { method: 'POST', path: path(kind, id, 'data', 'keys') })
}
