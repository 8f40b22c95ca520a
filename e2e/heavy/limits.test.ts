// Sends hostile sizes to a real server, one after the other, while another client checks its health. `npm run bench -- hostile`
// measures how long they keep the server busy.
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { prepareAttacks, type Reply } from '../../testbed/src/hostile-requests.ts'
import { aDataDirectory, startServer, type Server } from '../millrace.ts'

const statuses: Record<string, number[]> = {
  'upload: 16 MiB of lists': [400],
  'upload: 90,000 lists': [400],
  'upload: 15 MiB of text': [422],
  'upload: 400 steps with 200 variables each': [200],
  'upload: 400 steps with 100 plugins each': [400],
  'upload: 5,000 matrix adjustments': [422],
  'test results: 64 MiB of lists in 65 kB of gzip': [422],
  'test results: 5,000 failures of 10 kB': [202],
  'annotations: 3 of 1 MiB of brackets, read twice': [201, 201, 201, 200, 200],
  'annotation: 1 MiB that is slow to render': [200],
  'annotation: 1 MiB of ampersands': [201],
  'artifact search: 300 times **/': [200],
  'artifact search: 100 wildcards': [400],
  'pipeline: 1 MiB of lists': [422],
  'pipeline: 1 MiB of unknown steps': [422],
  'pipeline: 1 MiB of deep nesting': [422],
  'pipeline: anchors that multiply': [422],
  'pipeline: 3,000 conditions': [422],
  'pipeline: 10,000 variables': [201],
  'pipeline: steps that each wait for all before': [201],
  'pipeline of 4,000 steps: saved': [201],
  'pipeline of 4,000 steps: shown': [200, 200],
  'build of 4,000 steps: made': [201],
  'build of 4,000 steps: shown': [200, 200],
  'build of 4,000 steps: canceled': [200],
  'build of 2,000 steps, each behind a wait': [201, 201, 200],
  'upload: 500 steps': [200],
  'body: 1 MiB of lists': [400],
  'body: 9,000 fields of the wrong type': [400],
  'body: 9,000 variables and meta-data': [201],
  'body: 1 MiB of deep nesting': [400],
  'query: 500 filters': [200],
  'query: long branches and cursors': [200, 400],
  'agent: meta-data of 512 KiB': [422],
}

describe('abuse case R5: a request that keeps the server busy', () => {
  it('is answered or refused, whatever it sends, and others are answered meanwhile', async () => {
    const server = await startServer({
      MILLRACE_DATA_DIR: aDataDirectory(),
      // The agent of the attacked job sends no heartbeats.
      MILLRACE_AGENT_LOST_SECONDS: '3600',
      // A slow machine needs longer than the usual limit for the largest builds.
      MILLRACE_DATABASE_STATEMENT_SECONDS: '600',
    })
    const replies: Record<string, Reply[]> = {}
    for (const [name, send] of await prepareAttacks(server))
      replies[name] = await whilePinging(server, () => send(0))
    const seen = Object.entries(replies).map(([name, all]) => [name, all.map(({ status }) => status)])
    expect(Object.fromEntries(seen), `All answers: ${JSON.stringify(replies)}`).toEqual(statuses)
  })
})

/** Another client sends requests meanwhile, one after the other. It pauses between them, to spare the server. */
async function whilePinging(server: Server, send: () => Promise<Reply[]>): Promise<Reply[]> {
  const over = new AbortController()
  const pinging = (async () => {
    for (;;) {
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
      if (over.signal.aborted) return
      await once(AbortSignal.timeout(50), 'abort')
    }
  })()
  try {
    return await send()
  } finally {
    over.abort()
    await pinging
  }
}
