import type { OpenInvitation } from '../resources/people/invitations/queries.ts'
import { html, type Html } from './html.ts'
import type { PageAnswer, Session } from './page.ts'
import { passwordInput, problemNote } from './sign-in-forms.ts'

const titleOf = ({ organization_name: name }: OpenInvitation) => `Join ${name}`

const invitedBy = ({ created_by: inviter, role, organization_name: name }: OpenInvitation): Html =>
  html`<p>
    ${inviter ?? 'An administrator'} invites you to join ${name} as
    ${role === 'admin' ? 'an administrator' : 'a member'}.
  </p>`

interface Form {
  invitation: OpenInvitation
  formField: Html
  path: string
}

export const accountForm = (
  { invitation, formField, path }: Form,
  name: string,
  problem: string | null,
): PageAnswer => ({
  title: titleOf(invitation),
  content: html` ${invitedBy(invitation)} ${problemNote(problem)}
    <form method="post" action="${path}">
      ${formField}
      <label for="email">Email</label>
      <input id="email" type="email" autocomplete="username" value="${invitation.email}" readonly />
      <label for="name">Your name</label>
      <input id="name" name="name" autocomplete="name" maxlength="200" value="${name}" required autofocus />
      <label for="password">Password</label>
      ${passwordInput(false)}
      <button class="primary">Create account and join</button>
    </form>`,
})

export const signInToAccept = (invitation: OpenInvitation, path: string): PageAnswer => ({
  title: titleOf(invitation),
  content: html` ${invitedBy(invitation)}
    <p>There is an account for ${invitation.email}. Sign in with it to accept.</p>
    <p><a class="primary" href="/sign-in?next=${encodeURIComponent(path)}">Sign in</a></p>`,
})

export const acceptForm = ({ invitation, formField, path }: Form, { user }: Session): PageAnswer => ({
  title: titleOf(invitation),
  content: html` ${invitedBy(invitation)}
    <p>You are signed in as ${user.name}, ${user.email}.</p>
    <form method="post" action="${path}">
      ${formField}
      <button class="primary" autofocus>Accept</button>
    </form>`,
})

const signOutForm = (formField: Html) =>
  html`<form method="post" action="/sign-out">${formField}<button>Sign out</button></form>`

export const otherAddress = ({ invitation, formField }: Form, session: Session): PageAnswer => ({
  title: titleOf(invitation),
  content: html` ${invitedBy(invitation)}
    <p>
      The invitation is for ${invitation.email}, and you are signed in as ${session.user.email}. Sign out,
      then open it again.
    </p>
    ${signOutForm(formField)}`,
})

export const limitedSession = ({ invitation, formField }: Form): PageAnswer => ({
  title: titleOf(invitation),
  content: html` ${invitedBy(invitation)}
    <p>
      You are signed in with an access token or by single sign-on, which may not accept invitations for you.
      Sign out, sign in with your password, then open the invitation again.
    </p>
    ${signOutForm(formField)}`,
})
