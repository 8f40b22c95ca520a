import type { Static } from 'typebox'
import { oneOf } from '../../schema.ts'

export const AccessLevel = oneOf(['read_only', 'build_and_read', 'manage_build_and_read'])
export type AccessLevel = Static<typeof AccessLevel>
