// Gitea, and Forgejo, which descends from it and has the same API.
import { jsonHeaders, storedToken } from '../api.ts'
import type { SourceHost, Webhook } from '../host.ts'
import { comments } from './comments.ts'
import { hooksOfType } from './hooks.ts'
import { listedPulls } from './listed-pulls.ts'
import { repositories } from './repositories.ts'
import { status } from './status.ts'
import { webhook } from './webhook.ts'

export const hostOf = (type: 'gitea' | 'forgejo' | 'gogs', name: string, webhook: Webhook): SourceHost => ({
  name,
  publicUrl: null,
  apiUrlOf: (url) => `${url}/api/v1`,
  providerOf: () => type,
  webhook,
  status,
  comments,
  repositories,
  hooks: hooksOfType(type),
  pullRequests: listedPulls,
  codeOwners: null,
  token: storedToken('oauth2', (secret) => ({ ...jsonHeaders, Authorization: `token ${secret}` })),
})

export const gitea = hostOf('gitea', 'Gitea', webhook)
export const forgejo = hostOf('forgejo', 'Forgejo', webhook)
