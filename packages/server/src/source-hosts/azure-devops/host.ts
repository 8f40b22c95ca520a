import { jsonHeaders, storedToken } from '../api.ts'
import type { SourceHost } from '../host.ts'
import { listedPulls } from './listed-pulls.ts'
import { repositories } from './repositories.ts'
import { status } from './status.ts'
import { webhook } from './webhook.ts'

export const azureDevOps: SourceHost = {
  name: 'Azure DevOps',
  publicUrl: 'https://dev.azure.com',
  // Paths of repositories have the organization or the collection in them.
  apiUrlOf: (url) => new URL(url).origin,
  providerOf: () => 'azure_devops',
  webhook,
  status,
  comments: null,
  repositories,
  // A webhook is one subscription for each event.
  hooks: null,
  pullRequests: listedPulls,
  codeOwners: null,
  token: storedToken('millrace', (secret) => ({
    ...jsonHeaders,
    Authorization: `Basic ${Buffer.from(`:${secret}`).toString('base64')}`,
  })),
}
