// A client of the agent API that retries.
import { setTimeout as delay } from 'node:timers/promises'
import { ask, reasonOf, type OnFailure } from './ask.ts'

/** A permanent refusal. */
export class Refused extends Error {
  readonly status: number
  constructor(status: number, text: string) {
    super(`${status} ${text}`)
    this.status = status
  }
}

interface Sent {
  json?: unknown
  gzipped?: Buffer
}

export class Client {
  private readonly address: string
  private readonly token: string
  private readonly onFailure: OnFailure

  constructor(address: string, token: string, onFailure: OnFailure) {
    this.address = address
    this.token = token
    this.onFailure = onFailure
  }

  withToken(token: string): Client {
    return new Client(this.address, token, this.onFailure)
  }

  /** Retries after no response, 429 and 5xx. */
  async call<T>(method: string, path: string, { json, gzipped }: Sent = {}): Promise<T> {
    const type =
      gzipped !== undefined
        ? { 'content-type': 'text/plain', 'content-encoding': 'gzip' }
        : json !== undefined
          ? { 'content-type': 'application/json' }
          : {}
    const said = await this.send(`${this.address}/v3/${path}`, {
      method,
      headers: { authorization: `Token ${this.token}`, ...type },
      body: gzipped ?? (json === undefined ? '' : JSON.stringify(json)),
    })
    return JSON.parse(said || '{}') as T
  }

  /** Sends a form without the token, as uploads want it. */
  async sendForm(method: string, url: string, form: FormData): Promise<void> {
    const encoded = new Response(form)
    const headers = { 'content-type': encoded.headers.get('content-type') ?? '' }
    await this.send(url, { method, headers, body: Buffer.from(await encoded.arrayBuffer()) })
  }

  private async send(url: string, asked: Parameters<typeof ask>[1]): Promise<string> {
    for (;;) {
      const askedAt = performance.now()
      const answer = await ask(url, asked)
      const { status } = answer
      if (status !== null && status < 300) return answer.bytes.toString()
      if (status !== null && status !== 429 && status < 500) {
        throw new Refused(status, answer.bytes.toString())
      }
      const path = new URL(url).pathname.replace(/[0-9a-f-]{36}/g, ':id')
      this.onFailure(`${asked.method} ${path}`, reasonOf(answer, askedAt), status)
      await delay(100 + Math.random() * 200)
    }
  }
}
