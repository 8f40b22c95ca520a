import { Type } from 'typebox'
import { created, noContent, ok } from '../../../http/answer.ts'
import { cursorAnswer, readCursor } from '../../../http/cursors.ts'
import { route } from '../../../http/route.ts'
import { createInvitations } from './create.ts'
import { presentCreatedInvitation, presentInvitation } from './present.ts'
import * as invitations from './queries.ts'
import { resendInvitation } from './resend.ts'
import { revokeInvitation } from './revoke.ts'
import { CreateInvitations, Invitation, InvitationPage } from './schema.ts'

const listInvitationsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/invitations',
  summary: 'List pending invitations, newest first',
  scope: 'read_organization_invitations',
  permission: 'admin',
  paging: 'cursor',
  answers: { 200: InvitationPage },
  errors: { 400: 'Both cursors are given, a cursor is invalid, or `per_page` is out of range.' },
  async handler({ ctx, org, url }) {
    const request = readCursor(url, `invitations ${org.id}`, ctx.keys)
    const rows = await invitations.listPending(ctx.db, org.id, request)
    return cursorAnswer(
      request,
      rows,
      ({ created_at: at, id }) => ({ at, id }),
      (row) => presentInvitation(ctx.config.url, org.slug, row),
    )
  },
})

const getInvitationRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/invitations/:invitation',
  summary: 'Get an invitation, in whatever state',
  scope: 'read_organization_invitations',
  permission: 'admin',
  answers: { 200: Invitation },
  async handler({ ctx, org, params }) {
    const invitation = await invitations.getInOrg(ctx.db, org.id, params.invitation)
    return ok(presentInvitation(ctx.config.url, org.slug, invitation))
  },
})

const createInvitationsRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/invitations',
  summary: 'Invite people, all of them or none; the invitations hold for seven days',
  scope: 'write_organization_invitations',
  permission: 'admin',
  body: CreateInvitations,
  answers: { 201: Type.Array(Invitation) },
  errors: {
    422: 'An address is invalid, a member’s or already invited, a team is unknown, or more than 20 would be pending.',
  },
  async handler({ ctx, org, caller, body }) {
    const rows = await createInvitations({ ctx, org, caller }, body)
    return created(rows.map((row) => presentCreatedInvitation(ctx.config.url, org.slug, row)))
  },
})

const resendInvitationRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/invitations/:invitation/resend',
  summary: 'Send a pending invitation again, with a new link that holds for seven days; the old link ends',
  scope: 'write_organization_invitations',
  permission: 'admin',
  answers: { 200: Invitation },
  errors: { 422: 'The invitation is not pending.' },
  async handler({ ctx, org, caller, params }) {
    const row = await resendInvitation({ ctx, org, caller }, params.invitation)
    return ok(presentCreatedInvitation(ctx.config.url, org.slug, row))
  },
})

const revokeInvitationRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/invitations/:invitation',
  summary: 'Revoke a pending invitation',
  scope: 'write_organization_invitations',
  permission: 'admin',
  answers: { 204: null },
  errors: { 422: 'The invitation is not pending.' },
  async handler({ ctx, org, caller, params }) {
    await revokeInvitation({ ctx, org, caller }, params.invitation)
    return noContent()
  },
})

export const invitationRoutes = [
  listInvitationsRoute,
  getInvitationRoute,
  createInvitationsRoute,
  resendInvitationRoute,
  revokeInvitationRoute,
]
