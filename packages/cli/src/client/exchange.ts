// One request with Node's own client: `fetch` needs more time to load than a whole command otherwise takes.
import type { IncomingMessage } from 'node:http'

/** The part of a Response that callers use. */
export interface Answer {
  ok: boolean
  status: number
  headers: { get(name: string): string | null }
  text(): Promise<string>
}

export interface Exchange {
  method: string
  headers: Record<string, string>
  body?: string
  signal?: AbortSignal
}

const SILENCE_MS = 120_000

/** Follows no redirect. Reads the whole body. */
export async function exchange(
  address: string,
  { method, headers, body, signal }: Exchange,
): Promise<Answer> {
  const { request } = await (address.startsWith('https:') ? import('node:https') : import('node:http'))
  const response = await new Promise<IncomingMessage & { whole: Buffer }>((resolve, reject) => {
    const sent = request(address, { method, headers, ...(signal === undefined ? {} : { signal }) })
    sent.setTimeout(SILENCE_MS, () =>
      sent.destroy(Object.assign(new Error('The server is silent.'), { code: 'ETIMEDOUT' })),
    )
    sent.on('error', reject)
    sent.on('response', (answer: IncomingMessage) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () => resolve(Object.assign(answer, { whole: Buffer.concat(chunks) })))
    })
    sent.end(body)
  })
  const { statusCode: status = 0, headers: received, whole } = response
  return {
    ok: status >= 200 && status <= 299,
    status,
    headers: { get: (name) => [received[name.toLowerCase()] ?? []].flat()[0] ?? null },
    text: () => Promise.resolve(whole.toString('utf8')),
  }
}
