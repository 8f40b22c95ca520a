// Abuse case R34: an organization that sends more expensive work than the threads can do.
import { beforeAll, describe, expect, it } from 'vitest'
import { useOwnApp } from '../../../test/app.ts'
import { aMember, anOrganization, aPipeline, type TestOrganization } from '../../../test/builders.ts'
import { aRunningJob, sendLog, type RunningScene } from '../../../test/job-runs.ts'
import { aBuild } from '../../../test/runs.ts'

const app = useOwnApp()

/** The renderer needs time that grows with the square of the length. */
const slowBody = '_a'.repeat(6000)
/** More than one user may have under way. */
const atOnce = 60
const mostAdmitted = 40

let victim: RunningScene
let attacker: TestOrganization

beforeAll(async () => {
  victim = await aRunningJob(app)
  await sendLog(app, victim.run, 'one\ntwo\nthree\n')
  attacker = await anOrganization(app)
})

/** Keeps many annotations under way until it is stopped. */
async function pressure() {
  const member = await aMember(app, attacker)
  const pipeline = await aPipeline(app, attacker, 'steps:\n  - command: make\n')
  const build = await aBuild(app, attacker, pipeline)
  const path = `${pipeline.path}/builds/${build.number}/annotations`
  const answers = { rendered: 0, refused: [] as Array<string | null> }
  const stopping = new AbortController()
  const sending = Array.from({ length: atOnce }, async (_, index) => {
    while (!stopping.signal.aborted) {
      const body = { context: `c${index}`, body: slowBody }
      const { status, headers } = await app.request('POST', path, { token: member.token, body })
      if (status === 201) answers.rendered++
      else answers.refused.push(`${status} ${headers.get('retry-after')}`)
    }
  })
  return {
    answers,
    async stop() {
      stopping.abort()
      await Promise.all(sending)
    },
  }
}

describe('while another organization has more annotations under way than it may', () => {
  it('log rows, search and an annotation are answered before what that organization has sent', async () => {
    const { answers, stop } = await pressure()
    const { admin, long } = victim
    const build = long.slice(0, long.indexOf('/jobs/'))
    const annotation = { context: 'mine', body: 'ready' }
    while (answers.rendered < 2 || answers.refused.length === 0) await app.request('GET', '/healthz')
    const passed: Record<string, number> = {}
    for (const [name, method, path, body] of [
      ['rows', 'GET', `${long}/log/rows`, undefined],
      ['search', 'GET', `${long}/log/search?q=two`, undefined],
      ['annotation', 'POST', `${build}/annotations`, annotation],
      ['annotations', 'GET', `${build}/annotations`, undefined],
    ] as const) {
      const before = answers.rendered
      const { status } = await app.request(method, path, { token: admin.token, body })
      expect([name, status]).toEqual([name, method === 'POST' ? 201 : 200])
      passed[name] = answers.rendered - before
    }
    await stop()
    expect(Object.entries(passed).filter(([, count]) => count >= mostAdmitted)).toEqual([])
    expect(new Set(answers.refused)).toEqual(new Set(['429 2']))
  })
})
