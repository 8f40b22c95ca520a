// The API of an issue tracker: one GraphQL endpoint, a bearer token.
import { DeliveryFailed, expectSuccess, type OAuthSession } from '../provider.ts'

type Data = Readonly<Record<string, unknown>>

/** The tracker answered with errors. */
export class TrackerRefused extends DeliveryFailed {}

/** Returns the `data` of the response; throws TrackerRefused for its errors. A rejected token is refreshed once. */
export async function askTracker<T extends Data>(
  session: OAuthSession,
  query: string,
  variables: object,
  deliveryId: string | null = null,
): Promise<T> {
  const first = await session.token()
  const answer = await ask(session, first, query, variables, deliveryId)
  const result = isTokenRefused(answer)
    ? await ask(session, await session.token(first), query, variables, deliveryId)
    : answer
  const [error] = result.errors
  if (error !== undefined) {
    throw new TrackerRefused(`The issue tracker refused: ${error.message.slice(0, 300)}`, {
      isFinal: isTokenRefused(result),
    })
  }
  return result.data as T
}

interface Result {
  data: Data
  errors: ReadonlyArray<{ message: string; code: string }>
}

const isTokenRefused = ({ errors }: Result) => errors.some(({ code }) => code === 'AUTHENTICATION_ERROR')

async function ask(
  { apiUrl, send }: OAuthSession,
  token: string,
  query: string,
  variables: object,
  deliveryId: string | null,
): Promise<Result> {
  const response = await send({
    method: 'POST',
    url: apiUrl,
    headers: {
      'Content-Type': 'application/json',
      Authorization: `Bearer ${token}`,
      ...(deliveryId === null ? {} : { 'X-Millrace-Delivery': deliveryId }),
    },
    secretHeaders: ['authorization'],
    body: JSON.stringify({ query, variables }),
  })
  if (response.status === 401) {
    return { data: {}, errors: [{ message: 'the access token is not valid', code: 'AUTHENTICATION_ERROR' }] }
  }
  // Invalid queries have status 400, with `errors` in the body.
  const result = read(response.body)
  if (result === null || (result.errors.length === 0 && response.status !== 200)) {
    expectSuccess(response)
    throw new DeliveryFailed('The issue tracker did not answer as GraphQL does.')
  }
  return result
}

function read(body: Buffer): Result | null {
  try {
    const { data, errors } = JSON.parse(body.toString()) as { data?: Data | null; errors?: unknown }
    return { data: data ?? {}, errors: Array.isArray(errors) ? errors.map(readError) : [] }
  } catch {
    return null
  }
}

function readError(error: unknown): { message: string; code: string } {
  const { message, extensions } = (error ?? {}) as { message?: unknown; extensions?: { code?: unknown } }
  return {
    message: typeof message === 'string' ? message : 'no reason given',
    code: typeof extensions?.code === 'string' ? extensions.code : '',
  }
}
