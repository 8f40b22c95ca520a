// A client of the REST API that retries: every change has an Idempotency-Key and is repeated until there is a result.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { ask, reasonOf, type Answer, type OnFailure } from './ask.ts'

export interface Rest {
  get<T>(path: string): Promise<T>
  /** The body; null: not found. */
  bytes(path: string): Promise<Buffer | null>
  post<T>(path: string, body: object): Promise<T>
  /** False if it was refused. */
  tryPut(path: string): Promise<boolean>
}

export function restOf(
  address: string,
  organization: string,
  token: string,
  onFailure: OnFailure = () => {},
): Rest {
  const base = `${address}/v2/organizations/${organization}/`
  const send = async (method: string, path: string, body?: object): Promise<Given> => {
    const key = method === 'GET' ? {} : { 'idempotency-key': randomUUID() }
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...key }
    const asked = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    for (;;) {
      const askedAt = performance.now()
      const answer = await ask(base + path, asked)
      // 409: the first attempt still runs, or its process died.
      if (answer.status !== null && answer.status < 500 && answer.status !== 409) return answer
      if (answer.status !== 409) onFailure(`${method} ${path}`, reasonOf(answer, askedAt), answer.status)
      await delay(200)
    }
  }
  const json = ({ status, bytes }: Given, what: string): unknown => {
    if (status >= 300) throw new Error(`${what}: ${status} ${bytes.toString()}`)
    return JSON.parse(bytes.toString())
  }
  return {
    get: async <T>(path: string) => json(await send('GET', path), path) as T,
    async bytes(path) {
      const { status, location, bytes } = await send('GET', path)
      if (location !== null) return bytesAt(new URL(location, base))
      if (status < 300) return bytes
      if (status === 404) return null
      throw new Error(`${path}: ${status} ${bytes.toString()}`)
    },
    post: async <T>(path: string, body: object) => json(await send('POST', path, body), path) as T,
    tryPut: async (path) => (await send('PUT', path, {})).status < 300,
  }
}

type Given = Extract<Answer, { status: number }>

/** Of the store, which does not restart. */
async function bytesAt(url: URL): Promise<Buffer | null> {
  const answer = await fetch(url)
  if (answer.ok) return Buffer.from(await answer.arrayBuffer())
  if (answer.status === 404) return null
  throw new Error(`${url.href}: ${answer.status} ${await answer.text()}`)
}
