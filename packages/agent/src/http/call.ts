// One call of the agent protocol: adds the session's address and token, sends and reads JSON, retries by the table.

import type { ErrorBody } from '@millrace/protocol/errors.ts'
import type { Clock } from '../clock.ts'
import { USER_AGENT } from '../version.ts'
import { codeOf, exchange, NoAnswer } from './exchange.ts'
import type { Answer } from './exchange.ts'
import { Refused, repeat } from './retry.ts'
import type { Repeating, RetryRule } from './retry.ts'
import { RETRIES } from './retry-table.ts'
import type { CallName } from './retry-table.ts'
import type { Session } from './session.ts'
import { waitFor } from './wait-table.ts'

export interface Api {
  session: Session
  clock: Clock
  /** Aborts every call of this client. */
  signal?: AbortSignal | undefined
  waiting?: Repeating['waiting']
}

interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below the session's endpoint, escaped; see `path`. */
  path: string
  query?: Readonly<Record<string, string | undefined>>
  json?: unknown
  bytes?: { body: Buffer; type: string; encoding?: string }
  headers?: Readonly<Record<string, string>>
  sendsAttempt?: boolean
  /** Aborts this call. */
  signal?: AbortSignal
}

/** How many attempts of a call in a row had no answer, also when each is made once. */
const silences = new WeakMap<Session, Map<CallName, number>>()

function silencesOf(session: Session): Map<CallName, number> {
  const known = silences.get(session) ?? new Map<CallName, number>()
  silences.set(session, known)
  return known
}

/** A path of plain segments. Dots are escaped too, so that no segment reads as a folder. */
export function path(...segments: readonly string[]): string {
  return segments.map((segment) => encodeURIComponent(segment).replaceAll('.', '%2E')).join('/')
}

/** Ignores the response body. */
export async function send(api: Api, name: CallName, call: Call): Promise<Answer> {
  const rule: RetryRule = RETRIES[name]
  const { clock, waiting } = api
  const signal = call.signal ?? api.signal
  return await repeat(rule, { clock, signal, waiting }, (count) => sendOnce(api, name, call, count))
}

/** For calls with a JSON response. A body that does not parse counts as no response. */
export async function ask<T>(api: Api, name: CallName, call: Call): Promise<T> {
  const rule: RetryRule = RETRIES[name]
  const { clock, waiting } = api
  const signal = call.signal ?? api.signal
  return await repeat(rule, { clock, signal, waiting }, async (count) => {
    const answer = await sendOnce(api, name, call, count)
    return parseAnswer(answer, `${call.method} ${call.path}`) as T
  })
}

async function sendOnce(
  { session, signal }: Api,
  name: CallName,
  call: Call,
  count: number,
): Promise<Answer> {
  const url = new URL(`${session.endpoint}/${call.path}`)
  for (const [key, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined) url.searchParams.set(key, value)
  }
  const { body, headers } = encodeBody(call)
  const known = silencesOf(session)
  const before = known.get(name) ?? 0
  const answer = await exchange({
    method: call.method,
    url,
    body,
    headers: {
      ...session.headers,
      'User-Agent': USER_AGENT,
      Authorization: `Token ${session.token}`,
      ...headers,
      ...call.headers,
      ...(call.sendsAttempt === true ? { 'X-Buildkite-Backoff-Sequence': String(count) } : {}),
    },
    wait: waitFor(name, before),
    signal: call.signal ?? signal,
  }).catch((error: unknown) => {
    if (codeOf(error) === 'ETIMEDOUT') known.set(name, before + 1)
    throw error
  })
  known.delete(name)
  if (answer.status >= 200 && answer.status <= 299) return answer
  throw refusal(`${call.method} ${url.origin}${url.pathname}`, answer)
}

function encodeBody(call: Call): { body: Buffer; headers: Record<string, string> } {
  if (call.bytes) {
    const { body, type, encoding } = call.bytes
    return {
      body,
      headers: { 'Content-Type': type, ...(encoding === undefined ? {} : { 'Content-Encoding': encoding }) },
    }
  }
  if (call.json === undefined) return { body: Buffer.alloc(0), headers: {} }
  return {
    body: Buffer.from(`${JSON.stringify(call.json)}\n`),
    headers: { 'Content-Type': 'application/json' },
  }
}

function parseAnswer(answer: Answer, what: string): unknown {
  try {
    return JSON.parse(answer.body.toString('utf8')) as unknown
  } catch {
    throw new NoAnswer(`${what}: the answer is no JSON`, 'EBADANSWER')
  }
}

function refusal(what: string, answer: Answer): Refused {
  const seconds = Number.parseFloat(answer.headers['retry-after'] ?? '')
  return new Refused(
    what,
    answer.status,
    reasonIn(answer),
    Number.isFinite(seconds) ? Math.max(0, seconds) : null,
  )
}

function reasonIn(answer: Answer): string {
  try {
    const body = JSON.parse(answer.body.toString('utf8')) as Partial<ErrorBody> | null
    return typeof body?.message === 'string' ? body.message : ''
  } catch {
    return ''
  }
}
