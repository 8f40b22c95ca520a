// Requests to the API of a host, and the token that a connection stores for them.
import type { OutboundRequest } from '../lib/outbound.ts'
import type { ApiRequest, HostToken } from './host.ts'

export const jsonHeaders = { 'Content-Type': 'application/json', Accept: 'application/json' }

/** For hosts whose connections store a token: nothing can be made anew when the host refuses it. */
export const storedToken = (
  gitUsername: string,
  apiHeaders: (token: string) => Record<string, string>,
): HostToken => ({
  credential: 'token',
  gitUsername,
  apiHeaders,
  async find({ keys }, { token_sealed: sealed, token_key_id: keyId }) {
    return sealed === null || keyId === null ? null : keys.open(sealed, keyId)
  },
  evict() {},
})

export const requestTo = (
  apiUrl: string,
  headers: Record<string, string>,
  { method = 'POST', path, body }: ApiRequest,
): OutboundRequest => ({
  method,
  url: `${apiUrl}${path}`,
  headers,
  body: body === undefined ? null : JSON.stringify(body),
})
