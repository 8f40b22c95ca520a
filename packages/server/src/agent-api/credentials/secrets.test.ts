import { describe, expect, it } from 'vitest'
import { useApp } from '../../../test/app.ts'
import { anAgentWorld, aRunningJob, type TestRun } from '../../../test/agent-client.ts'
import { auditTrail } from '../../../test/builders.ts'

const app = useApp()

describe('secrets', () => {
  const secretIn = (world: { cluster: { path: string }; admin: { token: string } }, body: object) =>
    app.request('POST', `${world.cluster.path}/secrets`, { token: world.admin.token, body })
  const read = (run: TestRun, key: string) =>
    run.call('GET', `jobs/${run.id}/secrets?key=${encodeURIComponent(key)}`)

  it('are read by key, in any case, and every reading is on record', async () => {
    const { run, world } = await aRunningJob(app)
    const made = await secretIn(world, { key: 'DEPLOY_KEY', value: 's3cr3t ✓' })
    expect((await read(run, 'deploy_key')).body).toEqual({
      key: 'DEPLOY_KEY',
      value: 's3cr3t ✓',
      uuid: made.body.id,
    })
    const [event] = await auditTrail(app, world.org, 'SECRET_READ')
    expect(event).toMatchObject({
      actor: { type: 'Agent', uuid: run.agent.id },
      subject: { name: 'DEPLOY_KEY' },
      data: { job_id: run.id },
    })
    const shown = await app.request('GET', `${world.cluster.path}/secrets/${made.body.id}`, {
      token: world.admin.token,
    })
    expect(shown.body.last_read_at).toEqual(expect.any(String))
    expect([
      (await read(run, 'NOPE')).status,
      (await run.call('GET', `jobs/${run.id}/secrets`)).status,
    ]).toEqual([404, 400])
    expect(app.logLines.join('')).not.toContain('s3cr3t')
  })

  it('of another cluster do not exist', async () => {
    const { run } = await aRunningJob(app)
    await secretIn(await anAgentWorld(app), { key: 'THEIRS', value: 'x' })
    expect((await read(run, 'THEIRS')).status).toBe(404)
  })

  it('are kept from jobs that their policy leaves out', async () => {
    const { run, world } = await aRunningJob(app)
    const slug = run.env.BUILDKITE_PIPELINE_SLUG
    await secretIn(world, {
      key: 'A',
      value: 'x',
      policy: `- pipeline_slug: ${slug}\n  build_branch: [main, next]`,
    })
    await secretIn(world, {
      key: 'B',
      value: 'x',
      policy: `- pipeline_slug: ${slug}\n  build_branch: next\n- cluster_queue_key: other`,
    })
    await secretIn(world, {
      key: 'C',
      value: 'x',
      policy: '- build_creator: ada@example.com\n- cluster_queue_key: default',
    })
    expect(await Promise.all(['A', 'B', 'C'].map(async (key) => (await read(run, key)).status))).toEqual([
      200, 403, 200,
    ])
  })
})
