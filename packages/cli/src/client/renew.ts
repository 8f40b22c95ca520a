// Renews the token of a profile. Several commands may do so at once: the server gives all of them the same tokens for a minute, and
// each looks into the file before it asks.
import { Refused } from '../refused.ts'
import { grantOf, OAuthError, postForm, type TokenAnswer } from './oauth.ts'
import { readProfiles, writeProfiles, type Access } from './profiles.ts'

const TOKEN_PATH = '/-/oauth/token'
const EARLY_MS = 60_000

/** Replaces the token of the access if it is about to expire. */
export async function renewIfDue(access: Access): Promise<void> {
  if (!isDue(access)) return
  if (takeStored(access) && !isDue(access)) return
  await renew(access)
}

const isDue = ({ renewal }: Access) =>
  renewal !== undefined && Date.parse(renewal.expires_at) - Date.now() < EARLY_MS

/** Takes the token that another command has stored since. False: there is none. */
export function takeStored(access: Access): boolean {
  const stored = access.profile === undefined ? undefined : readProfiles().profiles[access.profile]
  if (stored?.renewal === undefined || stored.url !== access.url || stored.token === access.token)
    return false
  access.token = stored.token
  access.renewal = stored.renewal
  return true
}

async function renew(access: Access): Promise<void> {
  const { renewal, profile: name, url } = access
  if (renewal === undefined || name === undefined) return
  try {
    const answer = await postForm<TokenAnswer>(`${url}${TOKEN_PATH}`, {
      grant_type: 'refresh_token',
      client_id: renewal.client_id,
      refresh_token: renewal.token,
    })
    const { token, renewal: next } = grantOf(answer, renewal.client_id)
    access.token = token
    if (next !== null) access.renewal = next
    store(access, name)
  } catch (error) {
    if (!(error instanceof OAuthError) || error.code !== 'invalid_grant') {
      // The request itself tells what is wrong with the server or with the file.
      if (Date.parse(renewal.expires_at) > Date.now()) return
      throw error
    }
    if (takeStored(access)) return
    throw new Refused(`Your login to ${url} has ended. Log in again: millrace login --url ${url}`)
  }
}

function store({ url, token, renewal }: Access, name: string): void {
  const stored = readProfiles()
  const profile = stored.profiles[name]
  // The person has logged out, or in somewhere else, meanwhile.
  if (profile === undefined || profile.url !== url || renewal === undefined) return
  writeProfiles({ ...stored, profiles: { ...stored.profiles, [name]: { ...profile, token, renewal } } })
}
