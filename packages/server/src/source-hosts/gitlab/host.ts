import { jsonHeaders, storedToken } from '../api.ts'
import type { SourceHost } from '../host.ts'
import { comments } from './comments.ts'
import { codeOwners } from './code-owners.ts'
import { hooks } from './hooks.ts'
import { listedPulls } from './listed-pulls.ts'
import { repositories } from './repositories.ts'
import { status } from './status.ts'
import { webhook } from './webhook.ts'

export const gitlab: SourceHost = {
  name: 'GitLab',
  publicUrl: 'https://gitlab.com',
  apiUrlOf: (url) => `${url}/api/v4`,
  providerOf: (hostname) => (hostname === 'gitlab.com' ? 'gitlab' : 'gitlab_ee'),
  webhook,
  status,
  comments,
  repositories,
  hooks,
  pullRequests: listedPulls,
  codeOwners,
  token: storedToken('oauth2', (secret) => ({ ...jsonHeaders, 'PRIVATE-TOKEN': secret })),
}
