import { Type, type Static } from 'typebox'

export const AccessLevel = Type.Union([
  Type.Literal('read_only'),
  Type.Literal('build_and_read'),
  Type.Literal('manage_build_and_read'),
])
export type AccessLevel = Static<typeof AccessLevel>
