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
  const limit = AbortSignal.timeout(ms)
  const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit
  const response = await fetch(url, { ...init, signal })
  const { ok, status, headers } = response
  return { ok, status, headers, text: await response.text() }
}
