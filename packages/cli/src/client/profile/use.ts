import type { Organization } from '@millrace/server/wire.ts'
import { print, type Output } from '../../command.ts'
import { apiOf } from '../api.ts'
import { getProfile, readProfiles, writeProfiles } from '../profiles.ts'

export async function useProfile(name: string, options: Output & { org?: string }): Promise<void> {
  const profile = getProfile(readProfiles(), name)
  const org = options.org ?? profile.org
  if (options.org !== undefined) {
    const api = apiOf({ ...profile, source: `of the profile ${name}` }, options.org)
    await api.get<Organization>('')
  }
  // The request may have renewed the token.
  const stored = readProfiles()
  const renewed = { ...getProfile(stored, name), org }
  writeProfiles({ current: name, profiles: { ...stored.profiles, [name]: renewed } })
  print(
    options,
    { profile: name, url: profile.url, org },
    `Commands now talk to ${profile.url}${org === null ? '' : `, organization ${org}`}.`,
  )
}
