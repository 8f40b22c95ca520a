// The server's address and the agent's token. The server can change the address, and add headers to send.

import type { RequestHeaders } from '@millrace/protocol/agents.ts'

export interface Session {
  endpoint: string
  token: string
  headers: RequestHeaders
}

export function openSession(endpoint: string, token: string, headers: RequestHeaders = {}): Session {
  return { endpoint: endpoint.replace(/\/+$/, ''), token, headers }
}

/** Undefined and null keep the current headers; an empty object clears them. */
export function keepHeaders(session: Session, headers: RequestHeaders | null | undefined): void {
  if (headers === null || headers === undefined) return
  const kept = Object.entries(headers).filter(([name]) => name.startsWith('Buildkite-'))
  session.headers = Object.fromEntries(kept)
}

export function moveTo(session: Session, endpoint: string | undefined): void {
  if (endpoint !== undefined && endpoint !== '') session.endpoint = endpoint.replace(/\/+$/, '')
}

const HEADER_VARIABLE = 'BUILDKITE_REQUEST_HEADER_'

/** How the headers reach the commands inside a job. */
export function headersToEnv(headers: RequestHeaders): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]): [string, string] => [
    HEADER_VARIABLE + name.toUpperCase().replaceAll('-', '_'),
    value,
  ])
  return Object.fromEntries(entries)
}

export function headersFromEnv(env: Readonly<Record<string, string | undefined>>): RequestHeaders {
  const headers: RequestHeaders = {}
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith(`${HEADER_VARIABLE}BUILDKITE_`) || value === undefined) continue
    const words = name.slice(HEADER_VARIABLE.length).toLowerCase().split('_')
    headers[words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('-')] = value
  }
  return headers
}
