import { endSessionsIn } from '../../../auth/sessions.ts'
import type { Trx } from '../../../db/pool.ts'

/** Ends the user's other sessions, and makes their sign-in links useless. To be followed by `flushTokenCaches`. */
export async function setPassword(
  trx: Trx,
  userId: string,
  passwordHash: string,
  keptSessionId: string,
): Promise<void> {
  await trx.updateTable('users').set({ password_hash: passwordHash }).where('id', '=', userId).execute()
  await endSessionsIn(trx, userId, keptSessionId)
  await trx.deleteFrom('sign_in_links').where('user_id', '=', userId).execute()
}
