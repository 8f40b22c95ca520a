import { recordAudit, type Origin } from '../../audit/record.ts'
import type { Trx } from '../../db/pool.ts'
import type { SsoMode } from '../members/schema.ts'
import type { TeamPlace } from '../teams/join.ts'
import * as invitations from './queries.ts'

/** For whoever makes the user a member, in the same transaction: what the invitation promised, if there is one. */
export async function acceptInvitation(
  trx: Trx,
  origin: Origin,
  orgId: string,
  user: { id: string; email: string },
): Promise<{ sso_mode: SsoMode; teams: readonly TeamPlace[] } | undefined> {
  const invitation = await invitations.acceptPending(trx, orgId, user)
  if (invitation === undefined) return undefined
  await recordAudit(trx, origin, {
    organizationId: orgId,
    type: 'ORGANIZATION_INVITATION_ACCEPTED',
    subject: { type: 'OrganizationInvitation', uuid: invitation.id, name: invitation.email },
    data: { accepted_by: user.id },
  })
  return invitation
}
