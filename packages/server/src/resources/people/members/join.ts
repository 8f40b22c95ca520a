import type { Origin } from '../../../audit/record.ts'
import type { Caller } from '../../../auth/caller.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { conflict, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { createMember } from './create.ts'
import * as organizations from '../organizations/queries.ts'
import * as invitations from '../invitations/queries.ts'

interface Person {
  id: string
  name: string
  email: string
}

/** The holder of the code is signed in with the invited address. */
export const joinByCode = (
  db: Db,
  code: string,
  user: Person,
  request: Caller['request'],
): Promise<invitations.OpenInvitation> =>
  inTransaction(db, async (trx) => {
    const invitation = await lockByCode(trx, code)
    if (invitation.email.toLowerCase() !== user.email.toLowerCase()) throw gone()
    await accept(trx, { kind: 'sign_in', user, request }, invitation, user.name)
    return invitation
  })

/** The holder of the code is new. The code is no proof of an account, so an existing one is refused. */
export const joinAsNewUser = (
  db: Db,
  code: string,
  person: { name: string; passwordHash: string },
  request: Caller['request'],
): Promise<{ invitation: invitations.OpenInvitation; userId: string }> =>
  inTransaction(db, async (trx) => {
    const invitation = await lockByCode(trx, code)
    const user = { id: newId(), name: person.name, email: invitation.email }
    const inserted = await trx
      .insertInto('users')
      .values({ ...user, password_hash: person.passwordHash })
      .onConflict((conflicting) => conflicting.doNothing())
      .executeTakeFirstOrThrow()
    if (inserted.numInsertedOrUpdatedRows === 0n)
      throw conflict('There is an account with this address. Sign in, then open the invitation again.')
    await accept(trx, { kind: 'sign_in', user, request }, invitation, person.name)
    return { invitation, userId: user.id }
  })

/** Until the transaction ends, nobody accepts the invitation or invites to its organization. */
async function lockByCode(trx: Trx, code: string): Promise<invitations.OpenInvitation> {
  const found = await invitations.findByCode(trx, code)
  if (found === undefined) throw gone()
  await organizations.lock(trx, found.organization_id)
  await invitations.lockInOrg(trx, found.organization_id, found.id)
  const locked = await invitations.findByCode(trx, code)
  if (locked === undefined) throw gone()
  return locked
}

const accept = (trx: Trx, origin: Origin, invitation: invitations.OpenInvitation, name: string) =>
  createMember(trx, origin, {
    email: invitation.email,
    name,
    organizationSlug: invitation.organization_slug,
    role: invitation.role,
    passwordHash: null,
  })

const gone = () => notFound('This invitation is not valid any more. Ask for a new one.')
