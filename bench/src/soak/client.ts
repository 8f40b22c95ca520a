// The agent API as a patient agent uses it.
import { setTimeout as delay } from 'node:timers/promises'

/** A refusal for good: the server has answered, and will not answer otherwise. */
export class Refused extends Error {
  readonly status: number
  constructor(status: number, text: string) {
    super(`${status} ${text}`)
    this.status = status
  }
}

export interface Sent {
  json?: unknown
  gzipped?: Buffer
}

export class Client {
  private readonly address: string
  private readonly token: string
  private readonly onBug: (call: string) => void

  /** `onBug` hears of answers that say 500: those are the server's own mistakes. */
  constructor(address: string, token: string, onBug: (call: string) => void) {
    this.address = address
    this.token = token
    this.onBug = onBug
  }

  withToken(token: string): Client {
    return new Client(this.address, token, this.onBug)
  }

  /** Repeated until there is an answer other than the server's own trouble. */
  async call<T>(method: string, path: string, sent: Sent = {}): Promise<T> {
    for (;;) {
      const answer = await this.once(method, path, sent)
      if (answer !== null && answer.status < 300) return JSON.parse(answer.text || '{}') as T
      if (answer !== null && answer.status !== 429 && answer.status < 500) {
        throw new Refused(answer.status, answer.text)
      }
      if (answer?.status === 500) {
        this.onBug(`${method} ${path.replace(/[0-9a-f-]{36}/g, ':id').split('?')[0]}`)
      }
      await delay(100 + Math.random() * 200)
    }
  }

  private async once(method: string, path: string, { json, gzipped }: Sent) {
    const headers: Record<string, string> = { authorization: `Token ${this.token}` }
    if (json !== undefined) headers['content-type'] = 'application/json'
    if (gzipped !== undefined) {
      Object.assign(headers, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
    }
    const body = json === undefined ? (gzipped ?? null) : JSON.stringify(json)
    const signal = AbortSignal.timeout(20_000)
    try {
      const answer = await fetch(`${this.address}/v3/${path}`, { method, headers, body, signal })
      return { status: answer.status, text: await answer.text() }
    } catch {
      return null
    }
  }
}
