// A client of the agent API that retries.
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'

/** A permanent refusal. */
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

interface Answer {
  status: number
  text: string
}

/** Keep-alive connections, like those of agents. `fetch` takes twice as much CPU time. */
const connections = new Agent({ keepAlive: true })

export class Client {
  private readonly address: string
  private readonly token: string
  private readonly onBug: (call: string) => void

  /** `onBug` is called for responses with 500. */
  constructor(address: string, token: string, onBug: (call: string) => void) {
    this.address = address
    this.token = token
    this.onBug = onBug
  }

  withToken(token: string): Client {
    return new Client(this.address, token, this.onBug)
  }

  /** Retries after no response, 429 and 5xx. */
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

  /** null: no response. */
  private once(method: string, path: string, { json, gzipped }: Sent): Promise<Answer | null> {
    const body = gzipped ?? Buffer.from(json === undefined ? '' : JSON.stringify(json))
    const headers: Record<string, string | number> = {
      authorization: `Token ${this.token}`,
      'content-length': body.length,
    }
    if (json !== undefined) headers['content-type'] = 'application/json'
    if (gzipped !== undefined) {
      Object.assign(headers, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
    }
    const signal = AbortSignal.timeout(20_000)
    const options = { method, headers, agent: connections, signal }
    return new Promise((resolve) => {
      const asked = request(`${this.address}/v3/${path}`, options, (answer) => {
        const { statusCode: status = 0 } = answer
        text(answer).then(
          (said) => resolve({ status, text: said }),
          () => resolve(null),
        )
      })
      asked.on('error', () => resolve(null))
      asked.end(body)
    })
  }
}
