import { recordAudit, type Origin } from '../../../audit/record.ts'
import type { MemberRole } from '../../../auth/caller.ts'
import type { Trx } from '../../../db/pool.ts'
import type { SsoMode } from '../schema.ts'
import type { TeamMembership } from '../team-members/queries.ts'
import * as invitations from './queries.ts'

/** Accepts the user's pending invitation, if there is one. The caller inserts the membership in the same transaction. */
export async function acceptInvitation(
  trx: Trx,
  origin: Origin,
  orgId: string,
  user: { id: string; email: string },
): Promise<{ role: MemberRole; sso_mode: SsoMode; teams: readonly TeamMembership[] } | undefined> {
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
