import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { Caller } from '../../../auth/caller.ts'
import type { RequestContext } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { validationFailed } from '../../../lib/errors.ts'
import { hashToken, newId, newToken } from '../../../lib/ids.ts'
import * as organizations from '../organizations/queries.ts'
import * as teams from '../teams/queries.ts'
import * as invitations from './queries.ts'
import { enqueueMail } from './send-mail.ts'
import { mostPending, readAddresses, readTeams } from './rules.ts'
import type { CreateInvitationsBody } from './schema.ts'

/** `code` is in the link that accepts the invitation, and stored nowhere. */
export type CreatedInvitation = invitations.InvitationRow & { code: string }

/** Creates all of the invitations, or none. */
export async function createInvitations(
  { ctx, org, caller }: RequestContext,
  body: CreateInvitationsBody,
): Promise<CreatedInvitation[]> {
  const emails = readAddresses(body.emails)
  const memberships = readTeams(body.teams)
  return inTransaction(ctx.db, async (trx) => {
    await organizations.lock(trx, org.id)
    await requireTeams(trx, org.id, memberships)
    await requireInvitable(trx, org.id, emails)
    const created: CreatedInvitation[] = []
    for (const email of emails) {
      const code = newToken('mriv_')
      const id = newId()
      created.push({
        code,
        ...(await insertInvitation(trx, caller, {
          id,
          organization_id: org.id,
          code_hash: hashToken(code),
          email,
          role: body.role ?? 'member',
          sso_mode: body.sso_mode ?? 'required',
          teams: memberships,
          created_by: caller.user.id,
        })),
      })
      await enqueueMail(ctx, trx, org.id, { id, code })
    }
    return created
  })
}

async function requireTeams(
  trx: Trx,
  orgId: string,
  memberships: ReadonlyArray<{ id: string }>,
): Promise<void> {
  const wanted = memberships.map(({ id }) => id)
  const found = await teams.listIds(trx, orgId, wanted)
  const missing = wanted.findIndex((id) => !found.includes(id))
  if (missing !== -1) throw validationFailed(`teams[${missing}] is no team of this organization`)
}

async function requireInvitable(trx: Trx, orgId: string, emails: readonly string[]): Promise<void> {
  const [member] = await invitations.listMemberEmails(trx, orgId, emails)
  if (member !== undefined) throw validationFailed(`${member} is already a member`)
  // An overdue invitation still counts as pending in the unique index on the address.
  await invitations.expireOverdueInOrg(trx, orgId)
  const pending = await invitations.countPending(trx, orgId)
  if (pending + emails.length > mostPending) {
    throw validationFailed(`at most ${mostPending} invitations can be pending, and ${pending} are already`)
  }
}

async function insertInvitation(
  trx: Trx,
  caller: Caller,
  row: invitations.NewInvitation,
): Promise<invitations.InvitationRow> {
  await invitations.insert(trx, row)
  const { email, role, sso_mode, teams: memberships } = row
  await recordAudit(trx, byCaller(caller), {
    organizationId: row.organization_id,
    type: 'ORGANIZATION_INVITATION_CREATED',
    subject: { type: 'OrganizationInvitation', uuid: row.id, name: email },
    data: { email, role, sso_mode, teams: memberships },
  })
  return invitations.getInOrg(trx, row.organization_id, row.id)
}
