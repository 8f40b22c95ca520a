import type { SourceHost } from '../host.ts'
import { codeOwners } from './code-owners.ts'
import { hooks } from './hooks.ts'
import { listedPulls } from './listed-pulls.ts'
import { appRepositories, repositories } from './repositories.ts'
import { status } from './status.ts'
import { appToken, token } from './token.ts'
import { webhook } from './webhook.ts'

const publicUrl = 'https://github.com'

/** Connected with a personal access token. */
export const github: SourceHost = {
  name: 'GitHub',
  publicUrl,
  apiUrlOf: (url) => (url === publicUrl ? 'https://api.github.com' : `${url}/api/v3`),
  providerOf: (hostname) => (hostname === 'github.com' ? 'github' : 'github_enterprise'),
  webhook,
  status,
  comments: null,
  token,
  repositories,
  hooks,
  pullRequests: listedPulls,
  codeOwners,
}

export const githubApp: SourceHost = {
  ...github,
  name: 'GitHub App',
  token: appToken,
  repositories: appRepositories,
}
export const githubEnterpriseApp: SourceHost = { ...githubApp, publicUrl: null }
