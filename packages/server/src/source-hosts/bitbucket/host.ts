import type { SourceHost } from '../host.ts'
import { status } from './status.ts'
import { token } from './token.ts'
import { webhook } from './webhook.ts'

const publicUrl = 'https://bitbucket.org'

export const bitbucket: SourceHost = {
  name: 'Bitbucket',
  publicUrl,
  apiUrlOf: (url) => (url === publicUrl ? 'https://api.bitbucket.org/2.0' : `${url}/2.0`),
  providerOf: () => 'bitbucket',
  webhook,
  status,
  token,
}
