// One web page: who may see it, and what it shows. As with routes, one without an access rule does not compile.
import type { Caller, Organization } from '../auth/caller.ts'
import type { Permission } from '../auth/permissions.ts'
import type { Scope } from '../auth/scopes.ts'
import type { Context } from '../context.ts'
import type { Html } from './html.ts'

export interface PageAnswer {
  status?: number
  title: string
  content: Html
  /** Where its forms may lead, beyond this server. */
  formsTo?: readonly string[]
  cookies?: readonly string[]
}

export interface Redirect {
  /** Never made of what a visitor sent, unless `localPath` has judged it. */
  to: string
  cookies?: readonly string[]
}

export interface Session {
  id: string
  /** What is in the cookie. */
  value: string
}

export interface PageInput {
  ctx: Context
  params: Readonly<Record<string, string>>
  query: URLSearchParams
  /** Empty unless something was sent, and then from a form of ours. */
  form: URLSearchParams
  /** Goes into every form, so that what comes back is known to be of a form of ours. */
  formField: Html
  session: Session | null
  visitor: { ip: string }
}

export interface MemberInput extends PageInput {
  session: Session
  caller: Caller
  /** The organization by that slug, where the page's scope and the permission hold for the caller in it. */
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

/** The path, where it is one of this server; otherwise null. */
export function localPath(baseUrl: string, text: string | null): string | null {
  // A browser takes a backslash for a slash, and drops tabs and line ends.
  if (text === null || !/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text)) return null
  const path = pathWithin(baseUrl, text)
  // Dots are resolved by now, which can leave two slashes in front; the browser reads that as the name of a host.
  return path !== null && pathWithin(baseUrl, path) === path ? path : null
}

function pathWithin(baseUrl: string, text: string): string | null {
  const url = URL.canParse(text, baseUrl) ? new URL(text, baseUrl) : null
  return url !== null && url.origin === new URL(baseUrl).origin ? url.pathname + url.search : null
}
