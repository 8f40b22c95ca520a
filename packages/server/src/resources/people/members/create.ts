import { sql } from 'kysely'
import { recordAudit, type Origin } from '../../../audit/record.ts'
import type { MemberRole } from '../../../auth/caller.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound, validationFailed } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { acceptInvitation } from '../invitations/accept.ts'
import * as teamMembers from '../team-members/queries.ts'
import { requireEmail } from '../email.ts'
import type { SsoMode } from '../schema.ts'

interface NewMember {
  email: string
  name: string
  organizationSlug: string
  role: MemberRole
  passwordHash: string | null
}

export interface CreatedMember {
  id: string
  email: string
  name: string
  role: MemberRole
}

/** Creates the user if the address is new, and the membership. Accepts a pending invitation of the user. */
export async function createMember(db: Db, origin: Origin, member: NewMember): Promise<CreatedMember> {
  requireEmail(member.email)
  return inTransaction(db, async (trx) => {
    // The lock keeps invitations and default teams from being created at the same time.
    const org = await trx
      .selectFrom('organizations')
      .select(['id', 'slug'])
      .where('slug', '=', member.organizationSlug)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (org === undefined) throw notFound(`There is no organization "${member.organizationSlug}".`)
    const user = await findOrInsertUser(trx, member)
    await insertMember(trx, origin, org, user, { role: member.role, ssoMode: 'optional' })
    return { ...user, role: member.role }
  })
}

/**
 * Inserts the membership and accepts a pending invitation, which decides on the teams and on single sign-on. The caller must
 * have locked the organization.
 */
export async function insertMember(
  trx: Trx,
  origin: Origin,
  org: { id: string; slug: string },
  user: KnownUser,
  /** `role` null: the one of the invitation. */
  given: { role: MemberRole | null; ssoMode: SsoMode },
): Promise<void> {
  const invitation = await acceptInvitation(trx, origin, org.id, user)
  const role = given.role ?? invitation?.role ?? 'member'
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('organization_members')
    .values({
      organization_id: org.id,
      user_id: user.id,
      role,
      sso_mode: invitation?.sso_mode ?? given.ssoMode,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows === 0n) {
    throw validationFailed(`${user.email} is already a member of "${org.slug}"`)
  }
  if (invitation !== undefined) await teamMembers.insertIntoTeams(trx, org.id, user.id, invitation.teams)
  await teamMembers.insertIntoDefaultTeams(trx, org.id, user.id)
  await recordAudit(trx, origin, {
    organizationId: org.id,
    type: 'ORGANIZATION_MEMBER_CREATED',
    subject: { type: 'OrganizationMember', uuid: user.id, name: user.name },
    data: { email: user.email, role },
  })
}

interface KnownUser {
  id: string
  email: string
  name: string
}

export async function findOrInsertUser(
  trx: Trx,
  member: Pick<NewMember, 'email' | 'name' | 'passwordHash'>,
): Promise<KnownUser> {
  const found = await findUser(trx, member.email)
  if (found !== undefined) return found
  if (member.name.trim() === '') throw validationFailed('the name must not be blank')
  // Another transaction may insert the same user at the same time.
  await trx
    .insertInto('users')
    .values({ id: newId(), email: member.email, name: member.name, password_hash: member.passwordHash })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const user = await findUser(trx, member.email)
  if (user === undefined) throw new Error('The user is missing after the insert.')
  return user
}

const findUser = (trx: Trx, email: string): Promise<KnownUser | undefined> =>
  trx
    .selectFrom('users')
    .select(['id', 'email', 'name'])
    .where(sql`lower(email)`, '=', sql`lower(${email})`)
    .executeTakeFirst()
