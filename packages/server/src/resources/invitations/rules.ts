import { validationFailed } from '../../lib/errors.ts'
import { requireEmail } from '../members/rules.ts'
import type { TeamPlace } from '../team-members/queries.ts'
import type { CreateInvitationsBody } from './schema.ts'

export const mostPending = 20

/** Each address once, compared without case, in its first spelling. */
export function readAddresses(emails: readonly string[]): string[] {
  const byLower = new Map<string, string>()
  for (const email of emails) {
    requireEmail(email)
    if (!byLower.has(email.toLowerCase())) byLower.set(email.toLowerCase(), email)
  }
  return [...byLower.values()]
}

export function readTeams(teams: CreateInvitationsBody['teams'] = []): TeamPlace[] {
  const places = teams.map(({ id, role = 'member' }) => ({ id: id.toLowerCase(), role }))
  const repeated = places.findIndex(({ id }, index) => places.findIndex((place) => place.id === id) < index)
  if (repeated !== -1) throw validationFailed(`teams[${repeated}] names a team for the second time`)
  return places
}
