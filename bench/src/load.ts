// Load on one URL from a number of connections, and what came of it.
import autocannon from 'autocannon'

export interface Measured {
  perSecond: number
  p50: number
  p95: number
  p99: number
}

export interface Load {
  url: string
  method: 'GET' | 'POST'
  body?: string
  token: string
  connections: number
  seconds: number
}

export async function loadRequests({ token, seconds, body, ...load }: Load): Promise<Measured> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const result = await autocannon({
    ...load,
    duration: seconds,
    headers,
    ...(body === undefined ? {} : { body }),
  })
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${load.url}: ${result.non2xx} refused, ${result.errors} failed.`)
  }
  // The load generator knows no 95th percentile; the 97.5th is shown in its place, which flatters nobody.
  const { p50, p97_5, p99 } = result.latency
  return { perSecond: result.requests.average, p50, p95: p97_5, p99 }
}

export const loadUrl = (
  url: string,
  token: string,
  connections: number,
  seconds: number,
): Promise<Measured> => loadRequests({ url, method: 'GET', token, connections, seconds })

/** Of several rounds, the one in the middle: a single disturbed round then changes nothing. */
export function median(rounds: readonly Measured[]): Measured {
  const sorted = rounds.toSorted((a, b) => a.perSecond - b.perSecond)
  const middle = sorted[Math.floor(sorted.length / 2)]
  if (middle === undefined) throw new Error('No round was measured.')
  return middle
}
