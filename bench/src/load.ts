// Load on one URL from a number of connections, and what came of it. The load shares the machine with what it
// measures, so it is made with as little as a request can be: one dispatch of the HTTP client, nothing kept but its time.
import { Client, type Dispatcher } from 'undici'

export interface Measured {
  perSecond: number
  p50: number
  p95: number
  p99: number
}

export interface Load {
  url: string
  method?: 'GET' | 'POST'
  body?: string
  token: string
  connections: number
  seconds: number
}

/** Each connection waits for its answer before it asks again. */
export async function loadUrl({ url, token, connections, seconds, ...rest }: Load): Promise<Measured> {
  const { origin, pathname, search } = new URL(url)
  const request: Dispatcher.DispatchOptions = {
    method: rest.method ?? 'GET',
    path: pathname + search,
    headers: {
      authorization: `Bearer ${token}`,
      ...(rest.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: rest.body ?? null,
  }
  const clients = Array.from({ length: connections }, () => new Client(origin))
  const latencies: number[] = []
  const start = performance.now()
  const end = start + seconds * 1000
  await Promise.all(clients.map((client) => askUntil(client, request, end, latencies)))
  const elapsed = (performance.now() - start) / 1000
  await Promise.all(clients.map((client) => client.close()))
  return summary(latencies, elapsed)
}

function askUntil(
  client: Client,
  request: Dispatcher.DispatchOptions,
  end: number,
  latencies: number[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    let at = performance.now()
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart() {},
      onResponseStart(_controller, status) {
        if (status > 299) throw new Error(`${request.path} answers ${status}.`)
      },
      onResponseData() {},
      onResponseEnd() {
        const now = performance.now()
        latencies.push(now - at)
        at = now
        if (now < end) client.dispatch(request, handler)
        else resolve()
      },
      onResponseError: (_controller, error) => reject(error),
    }
    client.dispatch(request, handler)
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
