// A client of the REST API that retries: every change has an Idempotency-Key and is repeated until there is a result.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

export interface Rest {
  get<T>(path: string): Promise<T>
  /** The body; null: not found. */
  bytes(path: string): Promise<Buffer | null>
  post<T>(path: string, body: object): Promise<T>
  /** False if it was refused. */
  tryPut(path: string): Promise<boolean>
}

export function restOf(address: string, organization: string, token: string): Rest {
  const base = `${address}/v2/organizations/${organization}/`
  const ask = async (method: string, path: string, body?: object): Promise<Response> => {
    const key = method === 'GET' ? {} : { 'idempotency-key': randomUUID() }
    for (;;) {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...key }
      const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
      const answer = await fetch(base + path, { ...init, signal: AbortSignal.timeout(30_000) }).catch(
        () => null,
      )
      // 409: the first attempt still runs, or its process died.
      if (answer !== null && answer.status < 500 && answer.status !== 409) return answer
      await answer?.arrayBuffer().catch(() => null)
      await delay(200)
    }
  }
  const json = async <T>(answer: Response, what: string): Promise<T> => {
    if (!answer.ok) throw new Error(`${what}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as T
  }
  return {
    get: async (path) => json(await ask('GET', path), path),
    async bytes(path) {
      const answer = await ask('GET', path)
      if (answer.ok) return Buffer.from(await answer.arrayBuffer())
      if (answer.status === 404) return null
      throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    },
    post: async (path, body) => json(await ask('POST', path, body), path),
    tryPut: async (path) => (await ask('PUT', path, {})).ok,
  }
}
