// Load on one URL from a number of connections, and what came of it.
import { Agent, get } from 'node:http'
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

/**
 * Each caller waits for its answer before it asks again. The load generator counts whole milliseconds; this counts
 * parts of them, for answers whose times are compared.
 */
export async function requestInTurn({
  url,
  token,
  callers,
  seconds,
}: {
  url: string
  token: string
  callers: number
  seconds: number
}): Promise<Measured> {
  const agent = new Agent({ keepAlive: true, maxSockets: callers })
  const latencies: number[] = []
  const start = performance.now()
  const end = start + seconds * 1000
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (let at = performance.now(); at < end;) {
        await readWhole(url, token, agent)
        const now = performance.now()
        latencies.push(now - at)
        at = now
      }
    }),
  )
  agent.destroy()
  return summary(latencies, (performance.now() - start) / 1000)
}

function readWhole(url: string, token: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url} answers ${response.statusCode}.`))
      response.on('end', resolve).on('error', reject).resume()
    }).on('error', reject)
  })
}

export function summary(latencies: number[], elapsedSeconds: number): Measured {
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0
  return { perSecond: latencies.length / elapsedSeconds, p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

/** Of several rounds, the one in the middle: a single disturbed round then changes nothing. */
export function median(rounds: readonly Measured[]): Measured {
  const sorted = rounds.toSorted((a, b) => a.perSecond - b.perSecond)
  const middle = sorted[Math.floor(sorted.length / 2)]
  if (middle === undefined) throw new Error('No round was measured.')
  return middle
}
