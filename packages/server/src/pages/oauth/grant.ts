// What a person gives a program: a token that may no more than the session in which the person allows it.
import type { Scope } from '../../auth/scopes.ts'
import type { AccessTokenRequest } from '../../resources/people/access-token/create.ts'
import { tokenRequest } from '../../resources/people/access-tokens/create.ts'
import type { MemberInput } from '../page.ts'
import { allInOne } from './consent-form.ts'

/** So long a token lasts, unless the person's own access ends before. */
export const grantDays = 90

/** A session that was opened with a token may not give more than the token. */
export const scopesToGive = ({ caller }: MemberInput, asked: readonly Scope[]): Scope[] =>
  asked.filter((scope) => caller.token.scopes.includes(scope))

/** The form names the organization. Throws. */
export async function grantOf(
  input: MemberInput,
  program: string,
  asked: readonly Scope[],
): Promise<AccessTokenRequest> {
  const { ctx, caller, form } = input
  const organization = form.get('organization') ?? allInOne
  const wanted = {
    description: program,
    scopes: scopesToGive(input, asked),
    organization_slugs: organization === allInOne ? null : [organization],
  }
  return { ...(await tokenRequest(ctx.db, caller, wanted, expiryOf(input))), program }
}

function expiryOf({ ctx, caller }: MemberInput): string {
  const expiresAt = new Date(ctx.now().getTime() + grantDays * 86_400_000).toISOString()
  const limit = caller.token.expires_at
  return limit !== null && Date.parse(limit) < Date.parse(expiresAt) ? limit : expiresAt
}
