// Tokens that prove a job's identity to other services.
import { Type, type Static } from 'typebox'
import { maybe } from './maybe.ts'

const Names = maybe(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100 }))

export const OidcTokenRequest = Type.Object({
  audience: maybe(Type.String({ maxLength: 2000 })),
  /** Seconds. */
  lifetime: maybe(Type.Integer({ minimum: 0, maximum: 86_400 })),
  claims: Names,
  aws_session_tags: Names,
  subject_claim: maybe(Type.String({ maxLength: 255 })),
})
export type OidcTokenRequest = Static<typeof OidcTokenRequest>

export const OidcTokenResponse = Type.Object({ token: Type.String() })
export type OidcTokenResponse = Static<typeof OidcTokenResponse>
