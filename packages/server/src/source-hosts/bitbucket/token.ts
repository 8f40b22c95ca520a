import type { HostToken } from '../host.ts'
import { jsonHeaders, storedToken } from '../stored-token.ts'

export const token: HostToken = {
  ...storedToken,
  gitUsername: 'x-token-auth',
  apiHeaders: (secret) => ({ ...jsonHeaders, Authorization: `Bearer ${secret}` }),
}
