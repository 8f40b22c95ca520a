// One web page: its access rule and its content. As with routes, a page without an access rule does not compile.
import type { Caller, CallerSession, Organization } from '../auth/caller.ts'
import type { Permission } from '../auth/permissions.ts'
import type { Scope } from '../auth/scopes.ts'
import type { Context } from '../context.ts'
import type { CookieName } from '../http/cookies.ts'
import type { Html } from './html.ts'

export interface PageAnswer {
  status?: number
  title: string
  content: Html
  /** Origins beyond this server that its forms may be sent to. */
  formsTo?: readonly string[]
  cookies?: readonly string[]
  /** What the page's script does. The page must also be of use without it. */
  script?: PageScript
}

/** See page-script.ts. */
export type PageScript =
  /** Keeps the secret of the session that begins, or deletes that of one that ended, and goes on. */
  | { does: 'keep'; secret: string | null; to: string }
  /** Asks for the same page again, with a ticket. */
  | { does: 'prove'; path: string }

export interface Redirect {
  /** Never made of what a visitor sent, unless `localPath` has checked it. */
  to: string
  cookies?: readonly string[]
}

export interface Session extends CallerSession {
  /** The value of the cookie. */
  value: string
  user: Caller['user']
  scopes: readonly string[]
  /** null: every organization of the user. */
  organizationIds: readonly string[] | null
}

export interface PageInput {
  ctx: Context
  params: Readonly<Record<string, string>>
  query: URLSearchParams
  /** The fields of one of our own forms. Empty for GET. */
  form: URLSearchParams
  /** Hidden fields that every form must contain. They prove that the form is ours, and the session. */
  formField: Html
  /** null: nobody is signed in, or the browser cannot prove it. */
  session: Session | null
  /** The browser has the cookie of a session that is over or cannot be proven. */
  isUnproven: boolean
  /** The value of the browser's cookie. */
  cookie(name: Exclude<CookieName, 'session'>): string | null
  visitor: { ip: string; userAgent: string | null }
}

export interface MemberInput extends PageInput {
  session: Session
  caller: Caller
  /** The organization with that slug. Throws if the caller lacks the page's scope or the permission in it. */
  enter(slug: string, permission: Member): Promise<Organization>
}

type Member = Exclude<Permission, 'anonymous'>

interface Common {
  method: 'GET' | 'POST'
  url: string
}

export type Page = Common &
  (
    | { permission: 'anonymous'; handler(input: PageInput): Promise<PageAnswer | Redirect> }
    | {
        permission: Member
        scope: Scope
        handler(input: MemberInput): Promise<PageAnswer | Redirect>
      }
  )

/** The path with its query and fragment, if it belongs to this server; otherwise null. */
export function localPath(baseUrl: string, text: string | null): string | null {
  // Browsers read a backslash as a slash, and ignore tabs and line ends.
  if (text === null || !/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text)) return null
  const path = pathWithin(baseUrl, text)
  // Resolving dots can leave two slashes at the beginning, which a browser reads as a host name.
  return path !== null && pathWithin(baseUrl, path) === path ? path : null
}

function pathWithin(baseUrl: string, text: string): string | null {
  const url = URL.canParse(text, baseUrl) ? new URL(text, baseUrl) : null
  return url !== null && url.origin === new URL(baseUrl).origin ? url.pathname + url.search + url.hash : null
}
