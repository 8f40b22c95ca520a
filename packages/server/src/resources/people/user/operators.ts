// Who may see the installation. Only the command line decides it: an administrator of an organization is no operator.
import { sql } from 'kysely'
import { recordAudit, type Origin } from '../../../audit/record.ts'
import type { Caller } from '../../../auth/caller.ts'
import type { Db } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound } from '../../../lib/errors.ts'

/**
 * An access token may be with a program, and the providers of single sign-on belong to organizations, so only a session of another
 * kind has the right. It is read from the database each time, so it ends at once.
 */
export async function maySeeInstallation(db: Db, { session, user }: Caller): Promise<boolean> {
  if (!isOwnSession(session)) return false
  const { rows } = await sql`select from users where id = ${user.id} and is_operator`.execute(db)
  return rows.length > 0
}

/** The person has signed in with what is theirs alone: a password, or a link of the operator. */
const isOwnSession = (session: Caller['session']): boolean =>
  session !== null && (session.opened_with === 'password' || session.opened_with === 'link')

export const addOperator = (db: Db, origin: Origin, email: string): Promise<void> =>
  setOperator(db, origin, email, true)

export const removeOperator = (db: Db, origin: Origin, email: string): Promise<void> =>
  setOperator(db, origin, email, false)

async function setOperator(db: Db, origin: Origin, email: string, isOne: boolean): Promise<void> {
  await inTransaction(db, async (trx) => {
    const { rows } = await sql<{ id: string; name: string }>`
      update users set is_operator = ${isOne} where lower(email) = lower(${email}) returning id, name`.execute(
      trx,
    )
    const [user] = rows
    if (user === undefined) throw notFound(`There is no user "${email}".`)
    const memberships = await trx
      .selectFrom('organization_members')
      .select('organization_id')
      .where('user_id', '=', user.id)
      .execute()
    for (const { organization_id: organizationId } of memberships) {
      await recordAudit(trx, origin, {
        organizationId,
        type: 'ORGANIZATION_MEMBER_UPDATED',
        subject: { type: 'OrganizationMember', uuid: user.id, name: user.name },
        data: { is_operator: isOne },
      })
    }
  })
}
