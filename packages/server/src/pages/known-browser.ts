// The cookie of a browser in which somebody has signed in. It signs nobody in: it gives the browser tries of its own for the password
// of that account, so that wrong passwords from elsewhere do not lock its owner out.
import { randomBytes } from 'node:crypto'
import type { Context } from '../context.ts'
import { writeCookie } from '../http/cookies.ts'
import type { PageInput } from './page.ts'

const days = 400
const purpose = 'known browser'

export function knownBrowserCookie(ctx: Context, userId: string): string {
  const id = randomBytes(16).toString('hex')
  const code = ctx.keys.sign(purpose, `${userId} ${id}`).toString('hex')
  return writeCookie(ctx.config.url, 'known', id + code, days * 86_400)
}

/** The id of the browser. null: nobody has signed in to this account with it. */
export function readKnownBrowser(
  { ctx, cookie }: Pick<PageInput, 'ctx' | 'cookie'>,
  userId: string,
): string | null {
  const value = cookie('known') ?? ''
  const id = value.slice(0, 32)
  return ctx.keys.verify(purpose, `${userId} ${id}`, Buffer.from(value.slice(32), 'hex')) ? id : null
}
