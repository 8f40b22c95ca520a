import { call, type Answer } from '../../api/call.ts'
import type { Operations } from '../../api/operations.ts'
import { listQuery } from '../../api/queries.ts'

const invitations = '/v2/organizations/{org}/invitations'

export type Invitation = Answer<`GET ${typeof invitations}`>['items'][number]
type NewInvitations = NonNullable<Operations[`POST ${typeof invitations}`]['body']>

export const invitationsQuery = (org: string) =>
  listQuery(`GET ${invitations}`, { params: { org }, query: { per_page: 100 } })

export const createInvitations = (org: string, body: NewInvitations, idempotencyKey: string) =>
  call(`POST ${invitations}`, { params: { org }, body, idempotencyKey })

export const resendInvitation = (org: string, invitation: string) =>
  call(`POST ${invitations}/{invitation}/resend`, { params: { org, invitation } })

export const revokeInvitation = (org: string, invitation: string) =>
  call(`DELETE ${invitations}/{invitation}`, { params: { org, invitation } })
