import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useApp } from '../../../test/app.ts'
import { aRunningJob, type TestRun } from '../../../test/agent-client.ts'
import { jobsOf, statesOf } from '../../../test/runs.ts'

const app = useApp()

describe('pipeline uploads', () => {
  const upload = (run: TestRun, uuid: string, pipeline: unknown, more: object = {}) =>
    run.call('POST', `jobs/${run.id}/pipelines?async=true`, {
      body: { uuid, pipeline, ...more },
      headers: { 'X-Buildkite-Backoff-Sequence': '0' },
    })

  it('are applied before the answer, once for each uuid', async () => {
    const { run, build } = await aRunningJob(app)
    const uuid = randomUUID()
    const pipeline = { steps: [{ command: 'two' }], env: { FROM: 'upload' } }
    const answers = await Promise.all([1, 2, 3].map(() => upload(run, uuid, pipeline)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await jobsOf(app, build)).map(({ name }) => name)).toEqual(['one', 'two'])
    expect((await run.call('GET', `jobs/${run.id}/pipelines/${uuid}`)).body).toEqual({
      state: 'applied',
      message: '',
    })
    await run.finish()
    expect((await run.agent.begin()).env).toMatchObject({ BUILDKITE_COMMAND: 'two', FROM: 'upload' })
  })

  it('replace what has not started', async () => {
    const { run, build } = await aRunningJob(
      app,
      '[{ command: one }, { command: old, agents: { os: none } }]',
    )
    expect(
      (await upload(run, randomUUID(), { steps: ['wait', { command: 'new' }] }, { replace: true })).status,
    ).toBe(200)
    expect(Object.keys(await statesOf(app, build))).toEqual(['one', 'waiter', 'new'])
  })

  it('with bad steps are 422 and say why; the status says it again', async () => {
    const { run } = await aRunningJob(app)
    const uuid = randomUUID()
    const bad = await upload(run, uuid, { steps: [{ command: 'x', retry: 3 }] })
    expect([bad.status, String(bad.body.message)]).toEqual([422, expect.stringContaining('retry')])
    const status = await run.call('GET', `jobs/${run.id}/pipelines/${uuid}`)
    expect(status.body).toEqual({ state: 'rejected', message: bad.body.message })
    expect((await run.call('GET', `jobs/${run.id}/pipelines/${randomUUID()}`)).status).toBe(404)
    expect((await upload(run, 'no-uuid', { steps: [] })).status).toBe(422)
  })
})
