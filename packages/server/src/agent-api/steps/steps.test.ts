import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useApp } from '../../../test/app.ts'
import { anAgent, aRunningJob, segment, type TestRun } from '../../../test/agent-client.ts'
import { buildState, statesOf } from '../../../test/runs.ts'

const app = useApp()

describe('steps', () => {
  const get = (run: TestRun, step: string, body: object) =>
    run.call('POST', `steps/${segment(step)}/export`, { body })

  it('are read by key or id, an attribute or all of them', async () => {
    const { run, build } = await aRunningJob(
      app,
      '[{ command: make, key: "a.b", label: Make, agents: { queue: default }, env: { A: b }, timeout_in_minutes: 5 }]',
    )
    const ask = async (attribute: string | undefined, format?: string) =>
      (await get(run, 'a.b', { attribute, build_id: build.id, format })).body.output
    expect(
      await Promise.all(
        ['label', 'command', 'type', 'state', 'outcome', 'timeout', 'if', 'key'].map((name) => ask(name)),
      ),
    ).toEqual(['Make', 'make', 'command', 'running', 'neutral', '5', '', 'a.b'])
    expect(await ask('env', 'json')).toBe('{"A":"b"}')
    expect(await ask('label', 'json')).toBe('"Make"')
    expect(JSON.parse(String(await ask(undefined)))).toMatchObject({
      label: 'Make',
      agents: ['queue=default'],
    })
    expect((await get(run, run.env.BUILDKITE_STEP_ID, { attribute: 'label' })).body.output).toBe('Make')
    expect((await get(run, 'a.b', { attribute: 'env' })).status).toBe(422)
    expect((await get(run, 'a.b', { attribute: 'color' })).status).toBe(422)
    expect((await get(run, 'zzz', { attribute: 'label' })).status).toBe(404)
  })

  it('change their label, priority and notifications, each change once', async () => {
    const { run, build } = await aRunningJob(
      app,
      '[{ command: one, key: one }, wait, { command: two, key: two, label: L }]',
    )
    const set = async (attribute: string, value: string, append = false, idempotency_uuid = randomUUID()) =>
      (
        await run.call('PUT', 'steps/two', {
          body: { idempotency_uuid, build_id: build.id, attribute, value, append },
        })
      ).status
    const again = randomUUID()
    expect(await set('label', '!', true, again)).toBe(200)
    expect(await set('label', '!', true, again)).toBe(200)
    expect((await get(run, 'two', { attribute: 'label' })).body.output).toBe('L!')
    expect(await set('priority', '9')).toBe(200)
    const job = await app.db
      .selectFrom('jobs')
      .select(['priority', 'work'])
      .where('build_id', '=', build.id)
      .where('step_key', '=', 'two')
      .executeTakeFirstOrThrow()
    expect(job).toMatchObject({ priority: 9, work: { label: 'L!' } })
    expect(await set('notify', '[{"slack": "#ops"}]')).toBe(200)
    expect(await set('notify', '[{"slack": "#dev"}]', true)).toBe(200)
    expect(
      JSON.parse(String((await get(run, 'two', { attribute: 'notify', format: 'json' })).body.output)),
    ).toHaveLength(2)
    expect([
      await set('notify', 'nonsense'),
      await set('notify', '[3]'),
      await set('priority', 'x'),
      await set('command', 'x'),
      await set('parallelism', '3'),
    ]).toEqual([422, 422, 422, 422, 422])
  })

  it('are canceled with all their jobs, by force after a grace', async () => {
    const { run, build, world } = await aRunningJob(
      app,
      '[{ command: one, key: one }, { command: two, key: two }, { command: three, key: three }]',
    )
    const second = await (await anAgent(app, world.token)).begin()
    expect(
      (
        await run.call('POST', 'steps/three/cancel', {
          body: { build_id: build.id, force: false, force_grace_period: 10 },
        })
      ).body,
    ).toEqual({ uuid: expect.any(String) })
    expect(
      (
        await run.call('POST', 'steps/two/cancel', {
          body: { build_id: build.id, force: true, force_grace_period: 1 },
        })
      ).status,
    ).toBe(200)
    expect(await second.state()).toBe('canceling')
    expect(await statesOf(app, build)).toMatchObject({ three: 'canceled' })
    const { deadline_at } = await app.db
      .selectFrom('jobs')
      .select('deadline_at')
      .where('id', '=', second.id)
      .executeTakeFirstOrThrow()
    expect(Date.parse(deadline_at ?? '')).toBeLessThan(Date.now() + 5000)
  })

  it('end with the build that one of its jobs cancels', async () => {
    const { run, build } = await aRunningJob(app)
    expect((await run.call('POST', `builds/${build.id}/cancel`)).body).toEqual({ uuid: build.id })
    expect((await run.call('POST', `builds/${build.id}/cancel`)).status).toBe(200)
    expect([await run.state(), await buildState(app, build)]).toEqual(['canceling', 'canceling'])
  })
})
