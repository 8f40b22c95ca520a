// Accepts an invitation: a new person chooses a name and a password, an existing one signs in first.
import { flushTokenCaches } from '../auth/access-watch.ts'
import { hashPassword, passwordProblem } from '../auth/passwords.ts'
import { notFound } from '../lib/errors.ts'
import { joinAsNewUser, joinByCode } from '../resources/people/members/join.ts'
import { findByCode, type OpenInvitation } from '../resources/people/invitations/queries.ts'
import { accountForm, acceptForm, otherAddress, signInToAccept, limitedSession } from './invitation-forms.ts'
import type { Page, PageInput, Session } from './page.ts'
import { startSession } from './start-session.ts'

const url = '/-/invitations/:code'

const showInvitation: Page = {
  method: 'GET',
  url,
  permission: 'anonymous',
  async handler(input) {
    const { invitation, path } = await findInvitation(input)
    const { formField, session } = input
    const form = { invitation, formField, path }
    if (session === null)
      return invitation.has_account ? signInToAccept(invitation, path) : accountForm(form, '', null)
    if (session.user.email.toLowerCase() !== invitation.email.toLowerCase())
      return otherAddress(form, session)
    return maySignUp(session) ? acceptForm(form, session) : limitedSession(form)
  },
}

const acceptInvitation: Page = {
  method: 'POST',
  url,
  permission: 'anonymous',
  async handler(input) {
    const found = await findInvitation(input)
    const { invitation, code, path } = found
    const { ctx, session, visitor } = input
    if (session === null) return invitation.has_account ? { to: path } : createAccount(input, found)
    if (!maySignUp(session)) return { to: path }
    await joinByCode(ctx.db, code, session.user, visitor)
    await flushTokenCaches(ctx.db)
    return { to: `/${encodeURIComponent(invitation.organization_slug)}` }
  },
}

/** A session that a token or single sign-on opened may be limited, and must not reach one more organization by itself. */
const maySignUp = ({ scopes, organizationIds }: Session) =>
  scopes.includes('write_user') && organizationIds === null

interface Found {
  invitation: OpenInvitation
  code: string
  path: string
}

async function findInvitation({ ctx, params }: PageInput): Promise<Found> {
  const code = params['code'] ?? ''
  const invitation = /^\w{1,100}$/.test(code) ? await findByCode(ctx.db, code) : undefined
  if (invitation === undefined)
    throw notFound(
      'This invitation has been used or revoked, or is older than seven days. Ask for a new one.',
    )
  return { invitation, code, path: `/-/invitations/${code}` }
}

async function createAccount(input: PageInput, { invitation, code, path }: Found) {
  const { ctx, form, formField, visitor } = input
  const name = form.get('name')?.trim() ?? ''
  const password = form.get('password') ?? ''
  const problem = nameProblem(name) ?? passwordProblem(password)
  if (problem !== null) return { ...accountForm({ invitation, formField, path }, name, problem), status: 422 }
  const passwordHash = await hashPassword(password)
  const joined = await joinAsNewUser(ctx.db, code, { name, passwordHash }, visitor)
  const to = `/${encodeURIComponent(joined.invitation.organization_slug)}`
  return startSession(input, { how: 'password', userId: joined.userId }, to)
}

function nameProblem(name: string): string | null {
  if (name === '') return 'Your name must not be blank.'
  return name.length > 200 || name.includes('\0') ? 'Your name must have at most 200 characters.' : null
}

export const invitationPages: readonly Page[] = [showInvitation, acceptInvitation]
