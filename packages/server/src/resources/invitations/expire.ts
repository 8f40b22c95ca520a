import type { Db } from '../../db/pool.ts'
import * as invitations from './queries.ts'

/** Background work: writes down which invitations ran out, in all organizations, and says how many did. */
export const expireInvitations = (db: Db): Promise<number> => invitations.expireOverdue(db)
