// Requests with a limit: a connection can die without a sign, and no page may wait for it for ever.

/** For the whole answer. The server gives up sooner. */
const longestMs = 60_000

export interface Received {
  ok: boolean
  status: number
  headers: Headers
  text: string
}

/** Throws an error named `TimeoutError` if the answer is not complete in time. */
export async function fetchWithin(url: string, init: RequestInit = {}, ms = longestMs): Promise<Received> {
  const response = await ask(url, init, ms)
  const { ok, status, headers } = response
  return { ok, status, headers, text: await response.text() }
}

/** null: the answer is an error. */
export async function fetchFileWithin(url: string, init: RequestInit): Promise<Blob | null> {
  const response = await ask(url, init, longestMs)
  return response.ok ? response.blob() : null
}

function ask(url: string, init: RequestInit, ms: number): Promise<Response> {
  const limit = AbortSignal.timeout(ms)
  const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit
  return fetch(url, { ...init, signal })
}
