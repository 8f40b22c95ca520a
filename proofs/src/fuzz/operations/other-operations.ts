// Operations that neither the OpenAPI document nor the agent API lists: uploads of files, pages, and pages' helpers.
import type { Operation } from './operation.ts'

const of = (
  method: string,
  path: string,
  credential: Operation['credential'],
  query: Record<string, string> = {},
): Operation => ({
  id: `${method} ${path}`,
  surface: 'other',
  method,
  path,
  query: Object.entries(query).map(([name, example]) => ({
    name,
    schema: { type: 'string', examples: [example] },
  })),
  body: null,
  examples: [],
  credential,
  answers: null,
})

export const otherOperations: readonly Operation[] = [
  of('POST', '/v3/uploads', 'ticket'),
  of('PUT', '/v3/uploads/{artifact}/parts/{part}', 'ticket', { ticket: '$$part' }),
  of('GET', '/sign-in', 'cookie', { next: '/fuzz' }),
  of('POST', '/sign-in', 'cookie'),
  of('POST', '/sign-out', 'cookie'),
  of('GET', '/-/password', 'cookie', { next: '/fuzz' }),
  of('POST', '/-/password', 'cookie'),
  of('GET', '/-/sso', 'cookie', { organization: '$org', next: '/fuzz' }),
  of('GET', '/-/sso/{org}', 'cookie', { next: '/fuzz' }),
  of('GET', '/-/sso/{org}/start', 'cookie', { code: '$$sso_code' }),
  of('GET', '/-/sso/{org}/callback', 'cookie', { code: '$$oauth_code', state: '$$oauth_state' }),
  of('GET', '/-/invitations/{code}', 'cookie'),
  of('POST', '/-/invitations/{code}', 'cookie'),
  of('GET', '/organizations/{org}/services/connect', 'cookie', { connected: 'chat_workspace' }),
  of('POST', '/organizations/{org}/services/connect/{provider}', 'cookie'),
  of('GET', '/oauth/{provider}/callback', 'cookie', { code: '$$oauth_code', state: '$$oauth_state' }),
  of('GET', '/assets/{asset}', 'none'),
  of('GET', '/{org}', 'cookie'),
  of('GET', '/{org}/{pipeline}/builds/{build}', 'cookie'),
  of('GET', '/docs', 'none'),
  of('GET', '/v2/openapi.json', 'none'),
  of('GET', '/healthz', 'none'),
  of('GET', '/readyz', 'none'),
  of('GET', '/metrics', 'none'),
]

/** Fields of the forms that pages send. */
export const forms: Readonly<Record<string, ReadonlyArray<Record<string, string>>>> = {
  'POST /sign-in': [
    { token: '$$admin', next: '/fuzz' },
    { email: '$$email', password: '$$password' },
    { code: 'mrsl_unknown' },
  ],
  'POST /sign-out': [{}],
  'POST /-/password': [{ password: 'another long enough password', next: '/fuzz' }],
  'POST /-/invitations/{code}': [{ name: 'Ada Example', password: 'another long enough password' }],
  'POST /organizations/{org}/services/connect/{provider}': [{ choice: '#builds' }],
}
