import type { Caller } from '../../auth/caller.ts'
import { scopes } from '../../auth/scopes.ts'
import type { TokenOrganization } from '../../resources/people/access-tokens/queries.ts'
import { html, type Html } from '../html.ts'
import type { PageAnswer } from '../page.ts'

/** The choice of all organizations. No slug has these characters. */
export const allInOne = '*'

interface Consent {
  program: string
  /** The path that the form is sent to. */
  action: string
  /** Where the form may lead to beyond this server. */
  formsTo?: readonly string[]
  /** How the person recognizes the program. */
  note: Html
  scopes: readonly string[]
  organizations: readonly TokenOrganization[]
  /** The parameters of the request. */
  given: ReadonlyArray<readonly [name: string, value: string]>
  formField: Html
  user: Caller['user']
  days: number
}

export const consentForm = (consent: Consent): PageAnswer => {
  const { program, action, formsTo, note, given, formField, user, days } = consent
  const open = consent.organizations.filter(mayGive)
  return {
    title: `Allow ${program}?`,
    ...(formsTo === undefined ? {} : { formsTo }),
    content: html`<p>It asks for an access token, to act as you: ${user.name}, ${user.email}.</p>
      ${rights('See', 'read_', consent.scopes)} ${rights('Change', 'write_', consent.scopes)}
      <form method="post" action="${action}">
        ${formField} ${given.map(hiddenField)}
        ${organizationField(open, open.length === consent.organizations.length)}
        ${open.length === 0 ? null : allowButton}
        <button name="choice" value="deny">Deny</button>
      </form>
      <p class="note">
        ${note} The token is valid for at most ${days} days and is listed among
        <a href="/-/me/programs">your connected programs</a>, where you can revoke it.
      </p>`,
  }
}

const allowButton = html`<button class="primary" name="choice" value="allow">Allow</button>`

const hiddenField = ([name, value]: readonly [string, string]) =>
  html`<input type="hidden" name="${name}" value="${value}" />`

const mayGive = ({ role, restricts_tokens, sso_missing }: TokenOrganization) =>
  !sso_missing && (role === 'admin' || !restricts_tokens)

function rights(verb: string, prefix: string, asked: readonly string[]): Html | null {
  const named = asked.filter((scope) => scope.startsWith(prefix))
  if (named.length === 0) return null
  const all = scopes.filter((scope) => scope.startsWith(prefix))
  const names =
    named.length === all.length
      ? 'everything that you may'
      : named.map((scope) => scope.slice(prefix.length).replaceAll('_', ' ')).join(', ')
  return html`<p><strong>${verb}:</strong> ${names}.</p>`
}

function organizationField(open: readonly TokenOrganization[], mayGiveAll: boolean): Html {
  const [first, ...others] = open
  if (first === undefined)
    return html`<p class="problem" role="alert">
      None of your organizations lets you create access tokens. Ask an administrator, or sign in with single
      sign-on.
    </p>`
  if (others.length === 0 && mayGiveAll)
    return html`<p><strong>In:</strong> ${first.slug}.</p>
      <input type="hidden" name="organization" value="${allInOne}" />`
  const all = mayGiveAll ? html`<option value="${allInOne}">All of yours</option>` : null
  return html`<label for="organization">Organization</label>
    <select id="organization" name="organization">
      ${all} ${open.map(({ slug }) => html`<option value="${slug}">${slug}</option>`)}
    </select>`
}

/** The session was opened with a token that has none of the scopes. */
export const nothingToGive = (program: string, scopes: readonly string[]): PageAnswer => ({
  title: `Allow ${program}?`,
  status: 403,
  content: html`<p>
    It asks for ${scopes.join(', ')}, and you are signed in with an access token that has none of these
    scopes. Sign in with your password, then start again.
  </p>`,
})
