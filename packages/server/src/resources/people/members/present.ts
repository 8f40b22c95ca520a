import type { Static } from 'typebox'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { MemberRow } from './queries.ts'
import type { Member } from './schema.ts'

export function presentMember(org: Organization, caller: Caller, member: MemberRow): Static<typeof Member> {
  const { id, name, email, role, sso_mode } = member
  const seesSsoMode = org.role === 'admin' || id === caller.user.id
  return { id, name, email, role, ...(seesSsoMode ? { sso_mode } : {}) }
}
