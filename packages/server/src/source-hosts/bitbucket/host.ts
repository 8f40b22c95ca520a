import { jsonHeaders, storedToken } from '../api.ts'
import type { SourceHost } from '../host.ts'
import { comments } from './comments.ts'
import { hooks } from './hooks.ts'
import { listedPulls } from './listed-pulls.ts'
import { repositories } from './repositories.ts'
import { status } from './status.ts'
import { webhook } from './webhook.ts'

const publicUrl = 'https://bitbucket.org'

export const bitbucket: SourceHost = {
  name: 'Bitbucket',
  publicUrl,
  apiUrlOf: (url) => (url === publicUrl ? 'https://api.bitbucket.org/2.0' : `${url}/2.0`),
  providerOf: () => 'bitbucket',
  webhook,
  status,
  comments,
  repositories,
  hooks,
  pullRequests: listedPulls,
  codeOwners: null,
  token: storedToken('x-token-auth', (secret) => ({ ...jsonHeaders, Authorization: `Bearer ${secret}` })),
}
