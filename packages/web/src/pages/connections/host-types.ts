// What each type of source host needs, and what a connection to it may do.
import type { Connection } from './queries.ts'

type HostType = Connection['type']

interface HostFields {
  name: string
  /** Where the public one is; null: everybody runs their own. */
  publicUrl: string | null
  /** How Millrace signs in there; null: such a host has no API. */
  credentials: 'token' | 'app' | null
}

export const hostTypes: Readonly<Record<HostType, HostFields>> = {
  github_app: { name: 'GitHub, with an App', publicUrl: 'https://github.com', credentials: 'app' },
  github: { name: 'GitHub, with a token', publicUrl: 'https://github.com', credentials: 'token' },
  github_enterprise_app: { name: 'GitHub Enterprise, with an App', publicUrl: null, credentials: 'app' },
  gitlab: { name: 'GitLab', publicUrl: 'https://gitlab.com', credentials: 'token' },
  bitbucket: { name: 'Bitbucket', publicUrl: 'https://bitbucket.org', credentials: 'token' },
  bitbucket_server: { name: 'Bitbucket Data Center', publicUrl: null, credentials: 'token' },
  azure_devops: { name: 'Azure DevOps', publicUrl: 'https://dev.azure.com', credentials: 'token' },
  gitea: { name: 'Gitea', publicUrl: null, credentials: 'token' },
  forgejo: { name: 'Forgejo', publicUrl: null, credentials: 'token' },
  gogs: { name: 'Gogs', publicUrl: null, credentials: 'token' },
  git: { name: 'A plain git server', publicUrl: null, credentials: null },
}

type Credentials = Pick<Connection, 'type' | 'token' | 'app_id' | 'webhook_secret' | 'checkout_enabled'>

/** In the order of their importance. */
function rightsOf(connection: Credentials): string[] {
  const { type, token, app_id: app, webhook_secret: secret, checkout_enabled: isForCheckouts } = connection
  const isApp = hostTypes[type].credentials === 'app' && app !== null
  return [
    ...((token !== null && type !== 'gogs') || isApp ? ['Sends commit statuses'] : []),
    ...(isApp ? ['writes checks'] : []),
    ...((token !== null || isApp) && isForCheckouts ? ['lets jobs read their repository'] : []),
    ...(secret === null ? [] : ['checks the signatures of webhooks']),
  ]
}

/** One sentence. */
export function rightsText(connection: Credentials): string {
  const text = rightsOf(connection).join(', ')
  return text === '' ? 'Nothing yet' : text.slice(0, 1).toUpperCase() + text.slice(1)
}
