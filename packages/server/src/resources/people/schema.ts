// The roles of members and teams, and how members sign in.
import type { Static } from 'typebox'
import { oneOf } from '../schema.ts'

export const MemberRole = oneOf(['admin', 'member'])
export const SsoMode = oneOf(
  ['required', 'optional'],
  'Whether single sign-on is `required` or `optional` for the person.',
)

export type SsoMode = Static<typeof SsoMode>

export const TeamRole = oneOf(['member', 'maintainer'])
export type TeamRole = Static<typeof TeamRole>
