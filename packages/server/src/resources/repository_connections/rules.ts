import { validationFailed } from '../../lib/errors.ts'
import type { ProviderId } from '../pipelines/provider.ts'
import type { ConnectionType } from './schema.ts'

const publicUrls: Partial<Record<ConnectionType, string>> = {
  github: 'https://github.com',
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
  return {
    url,
    api_url: given.api_url ? readUrl('api_url', given.api_url) : apiUrlOf(type, url),
    host: (given.repository_host || new URL(url).hostname).toLowerCase(),
  }
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

function apiUrlOf(type: ConnectionType, url: string): string {
  switch (type) {
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
  if (type === 'github' && host !== 'github.com') return 'github_enterprise'
  if (type === 'gitlab' && host !== 'gitlab.com') return 'gitlab_ee'
  return type === 'git' ? 'private' : type
}

/** How a request to the API of a host says who sends it. */
export function apiHeaders(type: Exclude<ConnectionType, 'git'>, token: string): Record<string, string> {
  const json = { 'Content-Type': 'application/json', Accept: 'application/json' }
  switch (type) {
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
