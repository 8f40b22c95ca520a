import type { Static } from 'typebox'
import { graphqlId } from '../../../lib/ids.ts'
import { presentPersonOrNull } from '../user/present.ts'
import type { InvitationRow } from './queries.ts'
import type { Invitation } from './schema.ts'

export const acceptUrl = (url: string, code: string): string => `${url}/-/invitations/${code}`

export function presentCreatedInvitation(
  url: string,
  orgSlug: string,
  { code, ...invitation }: InvitationRow & { code: string },
): Static<typeof Invitation> {
  return { ...presentInvitation(url, orgSlug, invitation), accept_url: acceptUrl(url, code) }
}

export function presentInvitation(
  url: string,
  orgSlug: string,
  invitation: InvitationRow,
): Static<typeof Invitation> {
  return {
    id: invitation.id,
    graphql_id: graphqlId('OrganizationInvitation', invitation.id),
    url: `${url}/v2/organizations/${orgSlug}/invitations/${invitation.id}`,
    email: invitation.email,
    state: invitation.state,
    role: invitation.role,
    sso_mode: invitation.sso_mode,
    teams: invitation.teams.map(({ id, slug }) => ({ id, graphql_id: graphqlId('Team', id), slug })),
    created_at: invitation.created_at,
    created_by: presentPersonOrNull(invitation.created_by),
    accepted_at: invitation.accepted_at,
    accepted_by: presentPersonOrNull(invitation.accepted_by),
    revoked_at: invitation.revoked_at,
    revoked_by: presentPersonOrNull(invitation.revoked_by),
    expired_at: invitation.expired_at,
  }
}
