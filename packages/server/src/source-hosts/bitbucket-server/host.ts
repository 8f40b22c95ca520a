// Bitbucket Data Center, and Bitbucket Server before it. Only its name is like that of bitbucket.org: payloads, signatures and
// API are others.
import { jsonHeaders, storedToken } from '../api.ts'
import type { SourceHost } from '../host.ts'
import { hooks } from './hooks.ts'
import { listedPulls } from './listed-pulls.ts'
import { repositories } from './repositories.ts'
import { status } from './status.ts'
import { webhook } from './webhook.ts'

export const bitbucketServer: SourceHost = {
  name: 'Bitbucket Data Center',
  publicUrl: null,
  apiUrlOf: (url) => `${url}/rest/api/latest`,
  providerOf: () => 'bitbucket_server',
  webhook,
  status,
  // A comment is updated with its version, which is not stored.
  comments: null,
  repositories,
  hooks,
  pullRequests: listedPulls,
  codeOwners: null,
  token: storedToken('x-token-auth', (secret) => ({ ...jsonHeaders, Authorization: `Bearer ${secret}` })),
}
