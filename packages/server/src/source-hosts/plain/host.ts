// A git server without an API: its post-receive hook announces pushes, and nothing can be reported to it.
import type { SourceHost } from '../host.ts'
import { webhook } from './webhook.ts'

export const plain: SourceHost = {
  name: 'Git',
  publicUrl: null,
  apiUrlOf: (url) => url,
  providerOf: () => 'private',
  webhook,
  status: null,
  comments: null,
  token: null,
  repositories: null,
  hooks: null,
  pullRequests: null,
  codeOwners: null,
}
