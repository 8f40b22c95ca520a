import type {
  ArtifactBatchRequest,
  ArtifactBatchResponse,
  ArtifactSearchQuery,
  ArtifactStateEntry,
  FoundArtifact,
} from '@millrace/protocol/artifacts.ts'
import { ask, path, send } from '../http/call.ts'
import type { Api } from '../http/call.ts'

export function createArtifacts(
  api: Api,
  jobId: string,
  json: ArtifactBatchRequest,
): Promise<ArtifactBatchResponse> {
  return ask(api, 'artifactCreate', { method: 'POST', path: path('jobs', jobId, 'artifacts'), json })
}

export async function reportArtifacts(
  api: Api,
  jobId: string,
  artifacts: ArtifactStateEntry[],
): Promise<void> {
  const json = { artifacts }
  await send(api, 'artifactStates', { method: 'PUT', path: path('jobs', jobId, 'artifacts'), json })
}

export function searchArtifacts(
  api: Api,
  buildId: string,
  query: ArtifactSearchQuery,
): Promise<FoundArtifact[]> {
  return ask(api, 'artifactSearch', {
    method: 'GET',
    path: path('builds', buildId, 'artifacts', 'search'),
    query: { state: 'finished', ...query },
  })
}
