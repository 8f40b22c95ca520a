// The API of a chat workspace: named methods, a bearer token, and responses with `ok` or `error`.
import { DeliveryFailed, expectSuccess, type OAuthSession } from '../provider.ts'

interface ChatAnswer {
  ok: boolean
  error?: string
  team_id?: unknown
  team?: unknown
}

/** Throws DeliveryFailed for errors of the workspace. A rejected token is refreshed once. */
export async function callChat(
  session: OAuthSession,
  method: string,
  body: object,
  deliveryId: string | null = null,
): Promise<ChatAnswer> {
  const first = await session.token()
  const answer = await ask(session, first, method, body, deliveryId)
  if (!isTokenRefused(answer)) return accepted(method, answer)
  return accepted(method, await ask(session, await session.token(first), method, body, deliveryId))
}

async function ask(
  { apiUrl, send }: OAuthSession,
  token: string,
  method: string,
  body: object,
  deliveryId: string | null,
): Promise<ChatAnswer> {
  const response = await send({
    method: 'POST',
    url: `${apiUrl}/${method}`,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      Authorization: `Bearer ${token}`,
      ...(deliveryId === null ? {} : { 'X-Millrace-Delivery': deliveryId }),
    },
    secretHeaders: ['authorization'],
    body: JSON.stringify(body),
  })
  if (response.status === 401) return { ok: false, error: 'invalid_auth' }
  const text = expectSuccess(response).body.toString()
  // The response repeats the whole message; `ok` comes first.
  if (response.isCut) return { ok: /^\s*\{\s*"ok"\s*:\s*true\b/.test(text), error: 'too_long' }
  try {
    const { ok, error, ...more } = JSON.parse(text) as Record<string, unknown>
    return { ...more, ok: ok === true, ...(typeof error === 'string' ? { error } : {}) }
  } catch {
    throw new DeliveryFailed('The chat workspace did not answer with JSON.')
  }
}

const isTokenRefused = ({ ok, error }: ChatAnswer) =>
  !ok && ['invalid_auth', 'token_expired', 'not_authed'].includes(error ?? '')

function accepted(method: string, answer: ChatAnswer): ChatAnswer {
  if (answer.ok) return answer
  const error = (answer.error ?? 'unknown').slice(0, 100)
  const hint = Object.hasOwn(hints, error) ? ` ${hints[error]}` : ''
  throw new DeliveryFailed(`The chat workspace answered ${method} with ${error}.${hint}`, {
    isFinal: final.has(error),
  })
}

/** Errors of the token or of the message, which another attempt would repeat. */
const final: ReadonlySet<string> = new Set([
  'account_inactive',
  'token_revoked',
  'invalid_auth',
  'msg_too_long',
  'no_text',
  'invalid_arguments',
])

const hints: Readonly<Record<string, string>> = {
  channel_not_found: 'Is the name right, and is Millrace invited, should the channel be private?',
  not_in_channel: 'Invite Millrace to the channel.',
  is_archived: 'The channel is archived.',
  missing_scope: 'Connect the workspace again with the scopes that the operator has set.',
  account_inactive: 'Connect the workspace again.',
  token_revoked: 'Connect the workspace again.',
  invalid_auth: 'Connect the workspace again.',
}
