// Finds or makes the member that a person of the provider is, and applies the person's groups.
import { recordAudit, type Origin } from '../../../audit/record.ts'
import type { Context } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import * as invitations from '../invitations/queries.ts'
import { findOrInsertUser, insertMember } from '../members/create.ts'
import { isEmail } from '../email.ts'
import * as organizations from '../organizations/queries.ts'
import * as identities from './identities.ts'
import type { SsoOrganization, SsoRow } from './queries.ts'
import { isTrusted, teamsOfGroups, type Claims } from './rules.ts'

/** Why a person is not admitted. */
export type Refusal =
  /** The provider does not tell an e-mail address. */
  | 'no_email'
  /** The provider does not vouch for the address, so it may belong to somebody else. */
  | 'unverified'
  /** The address belongs to a member who is another person at the provider. */
  | 'other_person'
  /** Neither a member nor invited. */
  | 'uninvited'
  /** The address has an account, and nobody has signed in to it here: the provider's word makes nobody else's account a member. */
  | 'has_account'

interface Visitor {
  ip: string
  userAgent: string | null
}

/**
 * `signedInAs`: the person who has signed in to the whole account with this browser. An identity that was seen before counts more than the
 * address, which may pass to another person.
 */
export const signInPerson = (
  ctx: Context,
  place: Place,
  claims: Claims,
  visitor: Visitor,
  signedInAs: string | null,
): Promise<Admission> => inTransaction(ctx.db, (trx) => admit(ctx, trx, place, claims, visitor, signedInAs))

/** Says what a sign-in would come to, and changes nothing. */
export async function trySignIn(
  ctx: Context,
  place: Place,
  claims: Claims,
  visitor: Visitor,
  signedInAs: string | null,
): Promise<Admission> {
  try {
    return await inTransaction(ctx.db, async (trx) => {
      throw new Tried(await admit(ctx, trx, place, claims, visitor, signedInAs))
    })
  } catch (error) {
    if (error instanceof Tried) return error.admission
    throw error
  }
}

interface Place {
  org: SsoOrganization
  sso: SsoRow
}

type Admission = { userId: string; name: string } | { refusal: Refusal }

/** Rolls the transaction back. */
class Tried extends Error {
  readonly admission: Admission

  constructor(admission: Admission) {
    super('The sign-in was only tried.')
    this.admission = admission
  }
}

async function admit(
  ctx: Context,
  trx: Trx,
  { org, sso }: Place,
  claims: Claims,
  visitor: Visitor,
  signedInAs: string | null,
): Promise<Admission> {
  // The lock keeps the same person from joining twice.
  await organizations.lock(trx, org.id)
  const known = await identities.findBySubject(trx, org.id, sso.issuer, claims.subject)
  const member = known ?? (await joinByEmail(trx, { org, sso }, claims, visitor, signedInAs))
  if ('refusal' in member) return member
  await identities.save(trx, {
    organization_id: org.id,
    issuer: sso.issuer,
    subject: claims.subject,
    user_id: member.id,
    last_used_at: ctx.now().toISOString(),
  })
  await applyGroups(trx, originOf(member, visitor), { org, sso }, member, claims.groups)
  return { userId: member.id, name: member.name }
}

const originOf = (user: identities.Person, request: Visitor): Origin => ({ kind: 'sign_in', user, request })

async function joinByEmail(
  trx: Trx,
  { org, sso }: Place,
  claims: Claims,
  visitor: Visitor,
  signedInAs: string | null,
): Promise<identities.Person | { refusal: Refusal }> {
  const { email } = claims
  if (email === null || !isEmail(email)) return { refusal: 'no_email' }
  if (!isTrusted(claims, sso.email_domains)) return { refusal: 'unverified' }
  const member = await identities.findByEmail(trx, org.id, sso.issuer, email)
  if (member !== undefined) return member.is_linked ? { refusal: 'other_person' } : member
  const isInvited = await invitations.hasPending(trx, org.id, email)
  if (!isInvited && !sso.provision) return { refusal: 'uninvited' }
  const account = await identities.findAccount(trx, email)
  if (account !== undefined && account.id !== signedInAs) return { refusal: 'has_account' }
  const user = await findOrInsertUser(trx, { email, name: claims.name ?? email, passwordHash: null })
  await insertMember(trx, originOf(user, visitor), org, user, { role: null, ssoMode: 'required' })
  return user
}

async function applyGroups(
  trx: Trx,
  origin: Origin,
  { org, sso }: Place,
  { id: userId, name }: identities.Person,
  groups: readonly string[],
): Promise<void> {
  const teamIds = teamsOfGroups(groups, sso.group_teams)
  const deleted = await identities.deleteOtherTeams(trx, org.id, userId, teamIds)
  const inserted = await identities.insertTeams(trx, org.id, userId, teamIds)
  const about = { organizationId: org.id, subject: { type: 'TeamMember', uuid: userId, name } }
  for (const data of deleted) await recordAudit(trx, origin, { ...about, type: 'TEAM_MEMBER_DELETED', data })
  for (const data of inserted) await recordAudit(trx, origin, { ...about, type: 'TEAM_MEMBER_CREATED', data })
}
