// Gogs, from which Gitea descends. It has no commit statuses.
import { hostOf } from '../gitea/host.ts'
import { hooksOfType } from '../gitea/hooks.ts'
import type { SourceHost } from '../host.ts'
import { webhook } from './webhook.ts'

export const gogs: SourceHost = {
  ...hostOf('gogs', 'Gogs', webhook),
  status: null,
  comments: null,
  hooks: { ...hooksOfType('gogs', ['create', 'delete', 'push']), testRequest: null },
  pullRequests: null,
  codeOwners: null,
}
