// Opens a session for a person who has a password, an access token, or a link that works once.
import { isPassword } from '../auth/passwords.ts'
import { findSignInLink, takeSignInLink } from '../auth/sign-in-links.ts'
import { ApiError } from '../lib/errors.ts'
import { isInRanges } from '../lib/ip-ranges.ts'
import { isStorable } from '../lib/unstorable.ts'
import { findCredentials, isServiceAccount } from '../resources/people/user/queries.ts'
import { readKnownBrowser } from './known-browser.ts'
import { listMemberships } from './memberships.ts'
import { localPath, type Page, type PageAnswer, type PageInput, type Redirect } from './page.ts'
import { linkForm, signedIn, signInForms } from './sign-in-forms.ts'
import { startSession } from './start-session.ts'

const showSignIn: Page = {
  method: 'GET',
  url: '/sign-in',
  permission: 'anonymous',
  async handler({ ctx, query, formField, session, isUnproven }) {
    const next = localPath(ctx.config.url, query.get('next'))
    const code = query.get('code')
    if (code !== null) {
      const user = await findSignInLink(ctx.db, code)
      return user === undefined
        ? { ...signInForms({ formField, next, problem: usedLink }), status: 422 }
        : linkForm({ formField, next, code, user })
    }
    const problem = isUnproven && next !== null ? unproven : null
    if (session === null) return signInForms({ formField, next, problem })
    return signedIn({ formField, next, session, organizations: await listMemberships(ctx.db, session) })
  },
}

const usedLink = 'This link has been used, or is older than 24 hours. Ask for a new one, or sign in below.'

const unproven = 'Your session is over, or this browser has lost its key. Sign in again.'

const signIn: Page = {
  method: 'POST',
  url: '/sign-in',
  permission: 'anonymous',
  async handler(input) {
    const { ctx, form, formField } = input
    const next = localPath(ctx.config.url, form.get('next'))
    try {
      if (form.has('code')) return await byLink(input, next)
      return form.has('token') ? await byToken(input, next) : await byPassword(input, next)
    } catch (error) {
      if (!(error instanceof ApiError) || (error.status !== 422 && error.status !== 429)) throw error
      const email = form.has('token') ? '' : (form.get('email') ?? '')
      return { ...signInForms({ formField, next, problem: error.message, email }), status: error.status }
    }
  },
}

type Answered = Promise<PageAnswer | Redirect>

const refuse = (problem: string) => new ApiError(422, problem)

async function byPassword(input: PageInput, next: string | null): Answered {
  const { ctx, form, visitor } = input
  const email = form.get('email')?.trim() ?? ''
  const user = isStorable(email) ? await findCredentials(ctx.db, email) : undefined
  const knownBrowser = user === undefined ? null : readKnownBrowser(input, user.id)
  const forgive = await ctx.signInLimits.spend({ email, ip: visitor.ip, knownBrowser })
  const isRight = await isPassword(user?.password_hash ?? null, form.get('password') ?? '')
  if (user === undefined || !isRight) throw refuse('The email address or the password is wrong.')
  await forgive()
  return startSession(input, { how: 'password', userId: user.id }, next ?? '/')
}

async function byToken(input: PageInput, next: string | null): Answered {
  const { ctx, form, visitor } = input
  const given = form.get('token')?.trim() ?? ''
  const found = /^[\x21-\x7e]{1,500}$/.test(given) ? await ctx.tokens.find(given, null) : null
  const ranges = found?.allowed_ip_addresses ?? null
  const isAllowed = ranges === null || isInRanges(visitor.ip, ranges)
  if (found === null || found.id === null || !isAllowed)
    throw refuse('That is not a valid access token, or it may not be used from here.')
  if (await isServiceAccount(ctx.db, found.user.id))
    throw refuse('Service accounts use the API only. Sign in as yourself.')
  ctx.tokenUse.record(found.id, visitor.ip)
  const identity = { how: 'token', accessTokenId: found.id, userId: found.user.id } as const
  return startSession(input, identity, next ?? '/')
}

async function byLink(input: PageInput, next: string | null): Answered {
  const userId = await takeSignInLink(input.ctx.db, input.form.get('code') ?? '')
  if (userId === null) throw refuse(usedLink)
  const to = next === null ? '/-/password' : `/-/password?next=${encodeURIComponent(next)}`
  return startSession(input, { how: 'link', userId }, to)
}

export const signInPages: readonly Page[] = [showSignIn, signIn]
