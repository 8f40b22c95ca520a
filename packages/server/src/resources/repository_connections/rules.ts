import { validationFailed } from '../../lib/errors.ts'
import type { ProviderId } from '../pipelines/provider.ts'
import type { ConnectionType } from './schema.ts'

/** Whose API a connection speaks. */
export type HostKind = 'github' | 'gitlab' | 'bitbucket' | 'gitea' | 'forgejo' | 'git'

export const isAppType = (type: ConnectionType): type is 'github_app' | 'github_enterprise_app' =>
  type === 'github_app' || type === 'github_enterprise_app'

export const kindOf = (type: ConnectionType): HostKind => (isAppType(type) ? 'github' : type)

const publicUrls: Partial<Record<ConnectionType, string>> = {
  github: 'https://github.com',
  github_app: 'https://github.com',
  gitlab: 'https://gitlab.com',
  bitbucket: 'https://bitbucket.org',
}

export interface Place {
  url: string
  api_url: string
  host: string
}

export function readPlace(
  type: ConnectionType,
  given: {
    url: string | undefined
    api_url: string | null | undefined
    repository_host: string | null | undefined
  },
): Place {
  const url = readUrl('url', given.url || publicUrls[type])
  const host = (given.repository_host || new URL(url).hostname).toLowerCase()
  if (isAppType(type)) refuseWrongApp(type, host)
  return {
    url,
    api_url: given.api_url ? readUrl('api_url', given.api_url) : apiUrlOf(kindOf(type), url),
    host,
  }
}

function refuseWrongApp(type: ConnectionType, host: string): void {
  const right = host === 'github.com' ? 'github_app' : 'github_enterprise_app'
  if (type !== right) throw validationFailed(`type must be ${right} for an App at ${host}`)
}

type GivenId = string | number | null

export const readAppId = (given: GivenId): string | null =>
  readId(
    'app_id',
    given,
    /^[A-Za-z0-9._-]+$/,
    'the App ID or the client ID that the settings of the App show',
  )

export const readInstallationId = (given: GivenId): string | null =>
  readId(
    'installation_id',
    given,
    /^[0-9]{1,20}$/,
    'the number at the end of the address of the installation’s settings',
  )

function readId(field: string, given: GivenId, pattern: RegExp, what: string): string | null {
  const text = String(given ?? '')
  if (text === '' || pattern.test(text)) return text || null
  throw validationFailed(`${field} must be ${what}`)
}

function readUrl(field: string, text: string | undefined): string {
  if (text === undefined) throw validationFailed(`${field} is required for a host of your own`)
  const url = URL.canParse(text) ? new URL(text) : null
  const isPlain =
    url !== null &&
    ['https:', 'http:'].includes(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    !/[?#]/.test(text)
  if (!isPlain) throw validationFailed(`${field} must be an address such as https://git.example.com`)
  return text.replace(/\/+$/, '')
}

function apiUrlOf(kind: HostKind, url: string): string {
  switch (kind) {
    case 'github':
      return url === publicUrls.github ? 'https://api.github.com' : `${url}/api/v3`
    case 'gitlab':
      return `${url}/api/v4`
    case 'bitbucket':
      return url === publicUrls.bitbucket ? 'https://api.bitbucket.org/2.0' : `${url}/2.0`
    case 'gitea':
    case 'forgejo':
      return `${url}/api/v1`
    case 'git':
      return url
  }
}

/** What pipelines on the host show as their provider. */
export function providerOfConnection(type: ConnectionType, host: string): ProviderId {
  const kind = kindOf(type)
  if (kind === 'github' && host !== 'github.com') return 'github_enterprise'
  if (kind === 'gitlab' && host !== 'gitlab.com') return 'gitlab_ee'
  return kind === 'git' ? 'private' : kind
}

/** How a request to the API of a host says who sends it. */
export function apiHeaders(kind: Exclude<HostKind, 'git'>, token: string): Record<string, string> {
  const json = { 'Content-Type': 'application/json', Accept: 'application/json' }
  switch (kind) {
    case 'github':
      return {
        ...json,
        Accept: 'application/vnd.github+json',
        Authorization: `Bearer ${token}`,
        'X-GitHub-Api-Version': '2022-11-28',
      }
    case 'gitlab':
      return { ...json, 'PRIVATE-TOKEN': token }
    case 'bitbucket':
      return { ...json, Authorization: `Bearer ${token}` }
    case 'gitea':
    case 'forgejo':
      return { ...json, Authorization: `token ${token}` }
  }
}
