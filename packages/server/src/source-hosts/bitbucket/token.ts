import type { HostToken } from '../host.ts'
import { jsonHeaders, storedToken } from '../api.ts'

export const token: HostToken = {
  ...storedToken,
  gitUsername: 'x-token-auth',
  apiHeaders: (secret) => ({ ...jsonHeaders, Authorization: `Bearer ${secret}` }),
}
