// The response headers in the OpenAPI document.
import type { Route } from '../http/route.ts'

interface Header {
  description: string
  schema: object
}

const text = { type: 'string' }
const count = { type: 'integer', minimum: 0 }

export const headers: Readonly<Record<string, Header>> = {
  'X-Request-Id': {
    description: 'Id of the request, under which the server’s log knows of it. One that was sent is used.',
    schema: text,
  },
  Link: {
    description: 'Links to other pages: any of `first`, `prev` and `next`, as `<URL>; rel="next"`.',
    schema: text,
  },
  Location: { description: 'Where to go on.', schema: { type: 'string', format: 'uri-reference' } },
  'WWW-Authenticate': { description: 'Always `Bearer`.', schema: text },
  'Retry-After': { description: 'Seconds after which to ask again.', schema: count },
  'RateLimit-Scope': { description: 'Always `rest`: the limit of the organization.', schema: text },
  'RateLimit-Limit': { description: 'Requests that the organization may make in a minute.', schema: count },
  'RateLimit-Remaining': { description: 'Requests left to the organization in this minute.', schema: count },
  'RateLimit-Reset': { description: 'Seconds until the organization’s minute ends.', schema: count },
  'RateLimit-User-Scope': { description: 'Always `rest_user`: the limit of the user.', schema: text },
  'RateLimit-User-Limit': { description: 'Requests that the user may make in a minute.', schema: count },
  'RateLimit-User-Remaining': { description: 'Requests left to the user in this minute.', schema: count },
  'RateLimit-User-Reset': { description: 'Seconds until the user’s minute ends.', schema: count },
}

const ofOrganization = ['RateLimit-Scope', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']
const ofUser = [
  'RateLimit-User-Scope',
  'RateLimit-User-Limit',
  'RateLimit-User-Remaining',
  'RateLimit-User-Reset',
]

/** The names of the headers that a response with this status has. */
export function headerNames(route: Route, status: number): string[] {
  const counts = route.permission !== 'anonymous' && status !== 401
  return [
    'X-Request-Id',
    ...(counts && /\/:org(\/|$)/.test(route.url) ? ofOrganization : []),
    ...(counts ? ofUser : []),
    ...(status === 200 && (route.query['page'] ?? route.query['after']) !== undefined ? ['Link'] : []),
    ...(status === 302 ? ['Location'] : []),
    ...(status === 401 ? ['WWW-Authenticate'] : []),
    ...(status === 429 || status === 503 ? ['Retry-After'] : []),
  ]
}

export const referTo = (names: readonly string[]): Record<string, { $ref: string }> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
