// The API of an issue tracker: one GraphQL endpoint, a bearer token.
import { DeliveryFailed, expectSuccess, type Door } from '../provider.ts'

type Data = Readonly<Record<string, unknown>>

/** The tracker understood, and would not. */
export class TrackerRefused extends DeliveryFailed {}

/** The `data` of the answer. Throws TrackerRefused where there are errors. A token that it refuses is renewed once. */
export async function askTracker<T extends Data>(
  door: Door,
  query: string,
  variables: object,
  deliveryId: string | null = null,
): Promise<T> {
  const first = await door.token()
  const answer = await ask(door, first, query, variables, deliveryId)
  const told = isTokenRefused(answer)
    ? await ask(door, await door.token(first), query, variables, deliveryId)
    : answer
  const [error] = told.errors
  if (error !== undefined) {
    throw new TrackerRefused(`The issue tracker refused: ${error.message.slice(0, 300)}`, {
      isFinal: isTokenRefused(told),
    })
  }
  return told.data as T
}

interface Told {
  data: Data
  errors: ReadonlyArray<{ message: string; code: string }>
}

const isTokenRefused = ({ errors }: Told) => errors.some(({ code }) => code === 'AUTHENTICATION_ERROR')

async function ask(
  { apiUrl, send }: Door,
  token: string,
  query: string,
  variables: object,
  deliveryId: string | null,
): Promise<Told> {
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
  // What is wrong with a request comes with status 400, and says so in the same way.
  const told = read(response.body)
  if (told === null || (told.errors.length === 0 && response.status !== 200)) {
    expectSuccess(response)
    throw new DeliveryFailed('The issue tracker did not answer as GraphQL does.')
  }
  return told
}

function read(body: Buffer): Told | null {
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
