// Sets a password after a sign-in link: a person without one, or who lost it, has no other way.
import { flushTokenCaches } from '../auth/access-watch.ts'
import { hashPassword, passwordProblem } from '../auth/passwords.ts'
import { isFreshLink } from '../auth/sessions.ts'
import { inTransaction } from '../db/transaction.ts'
import { setPassword } from '../resources/people/user/set-password.ts'
import { html, type Html } from './html.ts'
import { localPath, type Page, type PageAnswer, type Redirect, type Session } from './page.ts'
import { passwordInput, problemNote } from './sign-in-forms.ts'

const showPassword: Page = {
  method: 'GET',
  url: '/-/password',
  permission: 'anonymous',
  async handler({ ctx, query, formField, session }) {
    const next = localPath(ctx.config.url, query.get('next'))
    if (session === null) return signInFirst
    return isFreshLink(session, ctx.now()) ? passwordForm(formField, session, next, null) : elsewhere
  },
}

const savePassword: Page = {
  method: 'POST',
  url: '/-/password',
  permission: 'anonymous',
  async handler({ ctx, form, formField, session }) {
    const next = localPath(ctx.config.url, form.get('next'))
    if (session === null) return signInFirst
    if (!isFreshLink(session, ctx.now())) return elsewhere
    const password = form.get('password') ?? ''
    const problem = passwordProblem(password)
    if (problem !== null) return { ...passwordForm(formField, session, next, problem), status: 422 }
    const hash = await hashPassword(password)
    await inTransaction(ctx.db, (trx) => setPassword(trx, session.user.id, hash, session.id))
    await flushTokenCaches(ctx.db)
    return { to: next ?? '/' }
  },
}

const signInFirst: Redirect = { to: '/sign-in' }

const elsewhere: PageAnswer = {
  title: 'Set a password',
  status: 403,
  content: html`<p>
    This page works for an hour after you open a sign-in link. If you know your password, change it in
    <a href="/-/me">your settings</a>.
  </p>`,
}

const passwordForm = (
  formField: Html,
  { user }: Session,
  next: string | null,
  problem: string | null,
): PageAnswer => ({
  title: 'Set a password',
  content: html` <p>Next time you sign in with ${user.email} and this password.</p>
    ${problemNote(problem)}
    <form method="post" action="/-/password">
      ${formField}
      <input type="hidden" name="next" value="${next ?? ''}" />
      <input type="hidden" name="email" value="${user.email}" autocomplete="username" />
      <label for="password">New password</label>
      ${passwordInput(true, ' Your other sessions end.')}
      <button class="primary">Set password</button>
    </form>
    <p><a href="${next ?? '/'}">Not now</a></p>`,
})

export const passwordPages: readonly Page[] = [showPassword, savePassword]
