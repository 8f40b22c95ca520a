import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { fetchWithin } from './fetch-within.ts'

async function aServer(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_, response) => answer(response)).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

it('returns the whole answer', async () => {
  const url = await aServer((response) => response.writeHead(201, { 'X-A': 'b' }).end('text'))
  const { ok, status, headers, text } = await fetchWithin(url)
  expect([ok, status, headers.get('X-A'), text]).toEqual([true, 201, 'b', 'text'])
})

it('gives up on a server that accepts and never answers, and on one that stops in the answer', async () => {
  for (const answer of [() => {}, (response: ServerResponse) => void response.write('{')]) {
    const url = await aServer(answer)
    await expect(fetchWithin(url, {}, 100)).rejects.toMatchObject({ name: 'TimeoutError' })
  }
})

it('ends when its caller ends it', async () => {
  const url = await aServer(() => {})
  const leaving = new AbortController()
  const asked = fetchWithin(url, { signal: leaving.signal })
  leaving.abort()
  await expect(asked).rejects.toMatchObject({ name: 'AbortError' })
})

it('is how pages ask, but for event streams, which watch for silence', () => {
  const source = join(import.meta.dirname, '..')
  const asking = readdirSync(source, { recursive: true })
    .map(String)
    .filter((path) => /(?<!\.test)\.tsx?$/.test(path))
    .filter((path) => /(?<![\w.])fetch\(/.test(readFileSync(join(source, path), 'utf8')))
  expect(asking.toSorted()).toEqual(['api/event-stream.ts', 'api/fetch-within.ts'])
})
