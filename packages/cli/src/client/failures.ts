// Turns a refusal of the server into a sentence with the cause and the way out.
import { Refused } from '../refused.ts'
import type { Access } from './profiles.ts'
import { oneLine, printable } from './text.ts'

export class RefusedByServer extends Refused {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

interface Named {
  slug: string
  name: string
}

interface Refusal {
  access: Access
  /** The path of the request. */
  path: string
  status: number
  /** The body. */
  text: string
  requestId: string | null
  listOrganizations(): Promise<readonly Named[]>
  listPipelines(org: string): Promise<readonly Named[]>
}

export async function describeRefusal(refusal: Refusal): Promise<RefusedByServer> {
  const { access, status, text } = refusal
  const body = parse(text)
  if (body === null) {
    return new RefusedByServer(
      status,
      `${access.url} answers ${status}, but not like a Millrace server. Log in with its URL: millrace login --url URL`,
    )
  }
  return new RefusedByServer(status, await explain(refusal, body))
}

interface Body {
  message: string
  errors: ReadonlyArray<{ field: string; code: string }>
}

async function explain(refusal: Refusal, { message, errors }: Body): Promise<string> {
  const { access, status, requestId } = refusal
  const said = sentence(printable(message))
  switch (status) {
    case 401:
      return (
        `${access.url} does not accept the token ${access.source}: it is expired, revoked or mistyped. ` +
        (access.source === 'in MILLRACE_TOKEN'
          ? 'Set another one.'
          : `Log in again: millrace login --url ${access.url}`)
      )
    case 403:
      return /\bscope\b/.test(message)
        ? `${said} Make a token that has it at ${access.url}/-/me/tokens, then run millrace login.`
        : `${said} Ask an administrator of the organization for access.`
    case 404:
      return [said, ...(await alternatives(refusal, message))].join('\n')
    case 422:
      return [said, ...errors.filter(({ code }) => !message.includes(code)).map(describeField)].join('\n')
    case 429:
    case 503:
      return `${said} Try again later.`
    default:
      return status >= 500 && requestId !== null && !message.includes(requestId)
        ? `${said} The request's id is ${oneLine(requestId)}.`
        : said
  }
}

const describeField = ({ field, code }: Body['errors'][number]) => `  ${oneLine(field)}: ${oneLine(code)}`

const MOST_NAMES = 20

/** A line with what there is instead of a missing organization or pipeline. */
async function alternatives(refusal: Refusal, message: string): Promise<string[]> {
  const [, org = '', below = ''] = /^.*?\/v2\/organizations\/([^/]+)(\/.*)?$/.exec(refusal.path) ?? []
  const name = decodeURIComponent(org)
  try {
    if (/^No organization\b/.test(message)) {
      const names = listNames(await refusal.listOrganizations())
      return [`You have access to these organizations: ${names}. Choose one with --org or MILLRACE_ORG.`]
    }
    if (/^No pipeline\b/.test(message) && below.startsWith('/pipelines/')) {
      return [`The pipelines of ${oneLine(name)}: ${listNames(await refusal.listPipelines(name))}.`]
    }
  } catch {
    // The token may lack the scope for the list. The server's message is enough then.
  }
  return []
}

function listNames(rows: readonly Named[]): string {
  const slugs = rows.map(({ slug }) => oneLine(slug))
  const more = slugs.length - MOST_NAMES
  if (slugs.length === 0) return 'none'
  return more > 0 ? `${slugs.slice(0, MOST_NAMES).join(', ')} and ${more} more` : slugs.join(', ')
}

const sentence = (text: string) => (/[.!?:]$/.test(text) ? text : `${text}.`)

function parse(text: string): Body | null {
  try {
    const { message, errors } = JSON.parse(text) as Partial<Body>
    if (typeof message !== 'string') return null
    return { message, errors: Array.isArray(errors) ? errors : [] }
  } catch {
    return null
  }
}
