import { shortestPassword } from '../auth/passwords.ts'
import type { LinkedUser } from '../auth/sign-in-links.ts'
import { html, type Html } from './html.ts'
import type { PageAnswer, Session } from './page.ts'
import { ssoForm } from './sso.ts'

interface Common {
  formField: Html
  next: string | null
}

const nextField = (next: string | null) => html`<input type="hidden" name="next" value="${next ?? ''}" />`

export const problemNote = (problem: string | null): Html | null =>
  problem === null ? null : html`<p class="problem" role="alert">${problem}</p>`

const focusIf = (is: boolean) => (is ? html`autofocus` : null)

/** For a new password. `more` follows the note on its length. */
export const passwordInput = (isFocused: boolean, more = ''): Html =>
  html`<input
      id="password"
      name="password"
      type="password"
      autocomplete="new-password"
      required
      ${focusIf(isFocused)}
    />
    <p class="note">At least ${shortestPassword} characters.${more}</p>`

export const signInForms = ({
  formField,
  next,
  problem,
  email = '',
}: Common & { problem: string | null; email?: string }): PageAnswer => ({
  title: 'Sign in',
  content: html` ${problemNote(problem)}
    <form method="post" action="/sign-in">
      ${formField}${nextField(next)}
      <label for="email">Email</label>
      <input
        id="email"
        name="email"
        type="email"
        autocomplete="username"
        value="${email}"
        required
        ${focusIf(email === '')}
      />
      <label for="password">Password</label>
      <input
        id="password"
        name="password"
        type="password"
        autocomplete="current-password"
        required
        ${focusIf(email !== '')}
      />
      <button class="primary">Sign in</button>
    </form>
    <details>
      <summary>Use an access token</summary>
      <form method="post" action="/sign-in">
        ${formField}${nextField(next)}
        <label for="token">Access token</label>
        <input id="token" name="token" type="password" autocomplete="off" spellcheck="false" required />
        <button>Sign in with the token</button>
      </form>
    </details>
    <details>
      <summary>Single sign-on</summary>
      ${ssoForm(next)}
    </details>
    <p class="note">
      No password, or lost it? The operator of this installation can make you a sign-in link.
    </p>`,
})

/** A button, because programs that fetch links for a preview would use the link up. */
export const linkForm = ({
  formField,
  next,
  code,
  user,
}: Common & { code: string; user: LinkedUser }): PageAnswer => ({
  title: `Sign in as ${user.name}`,
  content: html` <p>This link works once, for ${user.email}.</p>
    <form method="post" action="/sign-in">
      ${formField}${nextField(next)}
      <input type="hidden" name="code" value="${code}" />
      <button class="primary" autofocus>Sign in</button>
    </form>`,
})

export const signedIn = ({
  formField,
  next,
  session,
  organizations,
}: Common & {
  session: Session
  organizations: ReadonlyArray<{ slug: string; name: string }>
}): PageAnswer => ({
  title: `Signed in as ${session.user.name}`,
  content: html` ${next === null ? null : html`<p><a class="primary" href="${next}">Continue</a></p>`}
    <ul>
      ${organizations.map(
        ({ slug, name }) =>
          html`<li>
            <a href="/${encodeURIComponent(slug)}">${name}</a>
            <a class="note" href="/organizations/${encodeURIComponent(slug)}/services/connect"
              >Connect services</a
            >
          </li>`,
      )}
    </ul>
    <form class="row" method="post" action="/sign-out">
      ${formField}
      <button>Sign out</button>
      <button name="everywhere" value="yes">Sign out everywhere</button>
    </form>`,
})
