import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { aBuild, aGraph, aJob, aStep } from '../../../test/graphs.ts'
import { apiOf } from '../api.ts'
import { WatchedBuild } from './model.ts'
import { WaitingReasons } from './waiting.ts'

const reason = 'The agents are busy.'
const inMinutes = (minutes: number) => ({
  code: 'agents_busy',
  reason,
  estimated_start_at: new Date(Date.now() + minutes * 60_000).toISOString(),
  estimate_unknown: null,
})
const unknown = {
  code: 'agents_busy',
  reason,
  estimated_start_at: null,
  estimate_unknown: { code: 'no_history', reason: 'Too few jobs have ended.' },
}

/** Says what it says while the server gives these answers one after the other, until the last one. */
async function saidFor(answers: readonly object[]): Promise<string[]> {
  let asked = 0
  const server = createServer(
    (_request, response) => void response.end(JSON.stringify(answers[asked++] ?? answers.at(-1))),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const access = { url: `http://127.0.0.1:${port}`, token: 't', org: 'acme', source: 'in a test' }
  const watched = new WatchedBuild({ build: aBuild() })
  watched.load(aGraph([aStep('Test')], [aJob('1', 'Test', { state: 'scheduled' })], aBuild()))
  const lines: string[] = []
  const reasons = new WaitingReasons(apiOf(access, 'acme'), (text) => void lines.push(text), 1)
  onTestFinished(() => reasons.end())
  reasons.expect(watched)
  await expect.poll(() => asked).toBeGreaterThan(answers.length)
  return lines
}

it('a watched build says when its first job probably starts, and says it again if that moves', async () => {
  const lines = await saidFor([unknown, inMinutes(10), inMinutes(10), inMinutes(9), inMinutes(30), unknown])
  expect(lines).toEqual([
    `Test waits: ${reason}`,
    expect.stringMatching(/^Test waits: The agents are busy\. It probably starts in (9|10) min.*\.$/),
    expect.stringMatching(/^Test waits: The agents are busy\. It probably starts in (29|30) min.*\.$/),
  ])
})

it('an older server has no estimate', async () => {
  expect(await saidFor([{ code: 'agents_busy', reason }])).toEqual([`Test waits: ${reason}`])
})
