import type { OidcTokenRequest, OidcTokenResponse } from '@millrace/protocol/oidc.ts'
import type {
  RepositoryAccessResponse,
  RepositoryTokenResponse,
  SecretResponse,
} from '@millrace/protocol/secrets.ts'
import { ask, path } from '../http/call.ts'
import type { Api } from '../http/call.ts'

export function readSecret(api: Api, jobId: string, key: string): Promise<SecretResponse> {
  return ask(api, 'secret', { method: 'GET', path: path('jobs', jobId, 'secrets'), query: { key } })
}

export function requestOidcToken(
  api: Api,
  jobId: string,
  json: OidcTokenRequest,
): Promise<OidcTokenResponse> {
  return ask(api, 'oidc', { method: 'POST', path: path('jobs', jobId, 'oidc', 'tokens'), json })
}

export function requestRepositoryToken(
  api: Api,
  jobId: string,
  repositoryUrl: string,
): Promise<RepositoryTokenResponse> {
  return ask(api, 'repositoryToken', {
    method: 'POST',
    path: path('jobs', jobId, 'repository_access_token'),
    json: { repo_url: repositoryUrl },
  })
}

export function askForAccess(api: Api, jobId: string): Promise<RepositoryAccessResponse> {
  return ask(api, 'repositoryToken', { method: 'GET', path: path('jobs', jobId, 'repository_access') })
}
