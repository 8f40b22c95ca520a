import type { HostToken } from '../host.ts'
import { jsonHeaders, storedToken } from '../api.ts'

export const token: HostToken = {
  ...storedToken,
  gitUsername: 'oauth2',
  apiHeaders: (secret) => ({ ...jsonHeaders, 'PRIVATE-TOKEN': secret }),
}
