// Requests to the API of a host, and the token that a connection stores for them.
import type { OutboundRequest } from '../lib/outbound.ts'
import type { ApiRequest, HostToken } from './host.ts'

/** For hosts whose connections store a token: nothing can be made anew when the host refuses it. */
export const storedToken: Pick<HostToken, 'credential' | 'find' | 'evict'> = {
  credential: 'token',
  async find({ keys }, { token_sealed: sealed, token_key_id: keyId }) {
    return sealed === null || keyId === null ? null : keys.open(sealed, keyId)
  },
  evict() {},
}

export const jsonHeaders = { 'Content-Type': 'application/json', Accept: 'application/json' }

export const requestTo = (
  apiUrl: string,
  headers: Record<string, string>,
  { path, body }: ApiRequest,
): OutboundRequest => ({ method: 'POST', url: `${apiUrl}${path}`, headers, body: JSON.stringify(body) })
