import { print, type Output } from '../command.ts'
import { Refused } from '../refused.ts'
import { apiOf } from './api.ts'
import { getProfile, readProfiles, writeProfiles } from './profiles.ts'

export interface LogoutOptions extends Output {
  profile?: string
  revoke?: true
}

export async function logOut(options: LogoutOptions): Promise<void> {
  const stored = readProfiles()
  const name = options.profile ?? stored.current
  if (name === null) throw new Refused('You are not logged in.')
  const profile = getProfile(stored, name)
  if (options.revoke) {
    await apiOf({ ...profile, source: `of the profile ${name}`, profile: name }).delete('/v2/access-token')
  }
  const { [name]: _gone, ...profiles } = readProfiles().profiles
  const [next = null] = Object.keys(profiles).toSorted()
  const current = stored.current === name ? next : stored.current
  writeProfiles({ current, profiles })
  print(
    options,
    { profile: name, revoked: options.revoke ?? false, current },
    `Logged out of ${profile.url}. ${options.revoke ? 'The token is revoked.' : 'The token stays valid; logout --revoke revokes one.'}` +
      (current === null ? '' : `\nThe current profile is ${current}.`),
  )
}
