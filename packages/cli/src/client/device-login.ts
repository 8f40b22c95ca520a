// Lets the person allow a login on another device (RFC 8628): the server gives a code, which the person enters on its page, and this
// program asks for the token until the person has decided.
import { setTimeout as pause } from 'node:timers/promises'
import { Refused } from '../refused.ts'
import {
  addressOf,
  deviceGrant,
  findMetadata,
  grantOf,
  OAuthError,
  postForm,
  register,
  scopesOf,
  type Grant,
  type TokenAnswer,
} from './oauth.ts'

interface DeviceLogin {
  /** The page where the code is entered. */
  page: string
  code: string
  /** Rejects if the person denies, or the code expires. */
  grant: Promise<Grant>
  /** Nobody waits for the person any more. */
  stop(): void
}

interface DeviceCodes {
  device_code: string
  user_code: string
  verification_uri: string
  interval?: number
}

const DEFAULT_INTERVAL_SECONDS = 5

/** null: the server does not answer, or is older than this way to log in. */
export async function startDeviceLogin(url: string, name: string): Promise<DeviceLogin | null> {
  const metadata = await findMetadata(url)
  if (metadata?.device_authorization_endpoint === undefined) return null
  const clientId = await register(url, metadata, {
    client_name: name,
    grant_types: [deviceGrant, 'refresh_token'],
  })
  const codes = await postForm<DeviceCodes>(addressOf(url, metadata.device_authorization_endpoint), {
    client_id: clientId,
    scope: scopesOf(metadata),
  })
  const stopped = new AbortController()
  const address = addressOf(url, metadata.token_endpoint)
  return {
    page: codes.verification_uri,
    code: codes.user_code,
    grant: poll(address, clientId, codes, stopped.signal),
    stop: () => stopped.abort(),
  }
}

async function poll(
  address: string,
  clientId: string,
  { device_code: code, interval = DEFAULT_INTERVAL_SECONDS }: DeviceCodes,
  signal: AbortSignal,
): Promise<Grant> {
  for (let seconds = interval; ;) {
    await pause(seconds * 1000, undefined, { signal })
    const fields = { grant_type: deviceGrant, client_id: clientId, device_code: code }
    try {
      return grantOf(await postForm<TokenAnswer>(address, fields), clientId)
    } catch (error) {
      const refused = error instanceof OAuthError ? error.code : null
      if (refused === 'access_denied') throw new Refused('You denied it on the page.')
      if (refused === 'expired_token') throw new Refused('The code has expired: run millrace login again.')
      if (refused === 'slow_down') seconds += DEFAULT_INTERVAL_SECONDS
      // A lost connection is tried again; the code ends the waiting.
      else if (refused !== 'authorization_pending' && refused !== null) throw error
    }
  }
}
