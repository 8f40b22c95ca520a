// The roles of members and teams, and how members sign in.
import { Type, type Static } from 'typebox'

export const MemberRole = Type.Union([Type.Literal('admin'), Type.Literal('member')])
export const SsoMode = Type.Union([Type.Literal('required'), Type.Literal('optional')], {
  description: 'Whether single sign-on is `required` or `optional` for the person.',
})

export type SsoMode = Static<typeof SsoMode>

export const TeamRole = Type.Union([Type.Literal('member'), Type.Literal('maintainer')])
export type TeamRole = Static<typeof TeamRole>
