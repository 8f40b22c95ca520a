import { validationFailed } from '../../../lib/errors.ts'
import type { MailText } from '../../../notifications/messages/mail-text.ts'
import { requireEmail } from '../email.ts'
import type { TeamMembership } from '../team-members/queries.ts'
import type { CreateInvitationsBody } from './schema.ts'

export const mostPending = 20

/** Each address once, compared without case, in its first spelling. */
export function readAddresses(emails: readonly string[]): string[] {
  const byLower = new Map<string, string>()
  for (const email of emails) {
    requireEmail(email)
    if (!byLower.has(email.toLowerCase())) byLower.set(email.toLowerCase(), email)
  }
  return [...byLower.values()]
}

export function readTeams(teams: CreateInvitationsBody['teams'] = []): TeamMembership[] {
  const memberships = teams.map(({ id, role = 'member' }) => ({ id: id.toLowerCase(), role }))
  const repeated = memberships.findIndex(
    ({ id }, index) => memberships.findIndex((membership) => membership.id === id) < index,
  )
  if (repeated !== -1) throw validationFailed(`teams[${repeated}] names a team for the second time`)
  return memberships
}

export function mailText(
  invitation: { organization_name: string; created_by: string | null },
  url: string,
): MailText {
  const { organization_name: organization, created_by: inviter } = invitation
  const what = `${inviter ?? 'An administrator'} invites you to join ${organization} on Millrace.`
  const until = 'The link works once, within seven days.'
  return {
    subject: `Invitation to ${organization}`.replaceAll(/\s+/g, ' '),
    text: `${what}\n\n${url}\n\n${until}\n`,
    html: `<p>${escaped(what)}</p><p><a href="${url}">${url}</a></p><p>${until}</p>`,
  }
}

const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
