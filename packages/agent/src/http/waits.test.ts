// What agents do when the network drops packets: connections stay open, and nothing arrives.

import { writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, describe, it, onTestFinished, vi } from 'vitest'
import { startTcpProxy } from '../../../../testbed/src/tcp-proxy.ts'
import { aCounterpart, aFolder, anAgentFor } from '../../test/agent.ts'
import type { Counterpart } from '../../test/counterpart.ts'
import * as agents from '../api/agents.ts'
import { systemClock } from '../clock.ts'
import { untilSilence } from './exchange.ts'
import { RETRIES } from './retry-table.ts'
import type { CallName } from './retry-table.ts'
import { openSession } from './session.ts'
import { waitFor } from './wait-table.ts'

const waiting = { timeout: 300_000 }
/** Repeats at once. */
const clock = { ...systemClock, sleep: async () => {} }
const names = Object.keys(RETRIES) as CallName[]
const longest = 60_000

/** The server behind a network that can drop packets. */
async function aNetwork(server: Counterpart) {
  const { port, pathname } = new URL(server.endpoint)
  const proxy = await startTcpProxy(() => Number(port))
  onTestFinished(() => proxy.close())
  return { ...proxy, endpoint: `http://127.0.0.1:${proxy.port}${pathname}` }
}

describe('the wait of a call', () => {
  it.each(names)('%s: ends, and grows at most to a minute', (name) => {
    const waits = Array.from({ length: 20 }, (_, silences) => Object.values(waitFor(name, silences)))
    for (const [limit = Infinity, ...others] of waits) {
      expect(others).toEqual([])
      expect(limit).toBeLessThanOrEqual(longest)
    }
    const limits = waits.map(([limit = Infinity]) => limit)
    expect(limits).toEqual(limits.toSorted((a, b) => a - b))
  })

  it('is short for what keeps an agent and its job going, and long for what the server holds', () => {
    const quick: CallName[] = ['connect', 'heartbeat', 'accept', 'start', 'jobState', 'chunk', 'finish']
    for (const name of quick) expect(Math.max(...Object.values(waitFor(name, 0)))).toBeLessThan(longest / 10)
    expect(waitFor('ping', 0)).toEqual({ answerMs: longest })
  })

  it('does not depend on other calls: a heartbeat is repeated while an older call still waits', async () => {
    const asked: string[] = []
    const server = createServer((request) => void asked.push(request.url ?? ''))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const session = openSession(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'token')
    const end = new AbortController()
    const api = { session, clock, signal: end.signal }
    const register = agents.register(api, { name: 'a' })
    await vi.waitFor(() => expect(asked).toEqual(['/register']), waiting)
    const beat = agents.heartbeat(api)
    await vi.waitFor(() => expect(asked.length).toBeGreaterThan(2), waiting)
    expect(asked.slice(0, 3)).toEqual(['/register', '/heartbeat', '/heartbeat'])
    end.abort()
    await Promise.allSettled([register, beat])
  })
})

describe('after the network has dropped packets', () => {
  it('a call uses no connection from before, and what the server holds is asked again', async () => {
    const server = await aCounterpart()
    const network = await aNetwork(server)
    let failures = 0
    const session = openSession(network.endpoint, 'token')
    const api = { session, clock, waiting: () => void (failures += 1) }
    await Promise.all([1, 2, 3, 4].map(() => agents.heartbeat(api)))
    const end = new AbortController()
    const silence = untilSilence(end.signal)
    network.silence()
    network.resume()
    await agents.heartbeat(api)
    expect(failures).toBe(1)
    expect(silence.aborted).toBe(true)
  })

  it('a job that has passed is reported as passed, and the next one runs', async () => {
    const server = await aCounterpart()
    const network = await aNetwork(server)
    const folder = await aFolder()
    await anAgentFor(server, { endpoint: network.endpoint })
    const [began, go, done] = ['began', 'go', 'done'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ]
    const command = `touch '${began}'; until [ -e '${go}' ]; do sleep 0.1; done; echo over; touch '${done}'`
    const id = server.offer({ BUILDKITE_COMMAND: command })
    await vi.waitFor(() => expect(existsSync(began)).toBe(true), waiting)
    network.silence()
    await writeFile(go, '')
    await vi.waitFor(() => expect(existsSync(done)).toBe(true), waiting)
    network.resume()
    expect(await server.finished(id)).toMatchObject({ exit_status: '0' })
    expect(server.log(id)).toContain('over')
    const next = server.offer({ BUILDKITE_COMMAND: 'true' })
    expect(await server.finished(next)).toMatchObject({ exit_status: '0' })
  })
})
