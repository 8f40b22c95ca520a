import type { Caller } from '../../../auth/caller.ts'
import { hashPassword, isPassword, passwordProblem } from '../../../auth/passwords.ts'
import { isFreshLink } from '../../../auth/sessions.ts'
import type { Context } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { forbidden, refused } from '../../../lib/errors.ts'
import { findCredentials } from './queries.ts'
import type { ChangePasswordBody } from './schema.ts'
import { setPassword } from './set-password.ts'

/** No access token changes a password: a password opens sessions with all scopes. */
export async function changePassword(ctx: Context, caller: Caller, body: ChangePasswordBody): Promise<void> {
  const { session, user } = caller
  if (session === null || session.opened_with === 'token')
    throw forbidden(
      'An access token cannot change the password. Sign in with your password or a sign-in link',
    )
  const problem = passwordProblem(body.new_password)
  if (problem !== null) throw refused(problem)
  if (!isFreshLink(session, ctx.now()))
    await requirePassword(ctx, caller, session.id, body.current_password ?? '')
  const hash = await hashPassword(body.new_password)
  await inTransaction(ctx.db, (trx) => setPassword(trx, user.id, hash, session.id))
}

async function requirePassword(
  ctx: Context,
  { user }: Caller,
  sessionId: string,
  given: string,
): Promise<void> {
  const forgive = await ctx.signInLimits.spendInSession(sessionId)
  const stored = (await findCredentials(ctx.db, user.email))?.password_hash ?? null
  if (stored === null)
    throw refused('You have no password yet. Ask the operator for a sign-in link to set one.')
  if (!(await isPassword(stored, given))) throw refused('The current password is wrong.')
  await forgive()
}
