import { afterEach, describe, expect, it } from 'vitest'
import { eventually, type Json } from '../../../test/app.ts'
import { aPipeline, type TestOrganization, type TestUser } from '../../../test/builders.ts'
import { aReceiver, type Receiver } from '../../../test/remote-hosts/receiver.ts'
import { aBuild, jobNamed, runJob, applyEvent } from '../../../test/runs.ts'
import { useNotifications } from '../../../test/notifications.ts'

const { app, anOrg } = useNotifications()

const receivers: Receiver[] = []
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close()
})

async function aSite(org: TestOrganization, admin: TestUser, settings: object = {}) {
  const receiver = await aReceiver((response) => {
    response.statusCode = 202
    response.end('{}')
  })
  receivers.push(receiver)
  const body = {
    provider: 'monitoring_pipeline_visibility',
    settings: { api_key: 'k'.repeat(32), monitoring_site: new URL(receiver.url).origin, ...settings },
  }
  const answer = await app.request('POST', `${org.path}/services`, { token: admin.token, body })
  expect([answer.status, answer.text]).toEqual([201, answer.text])
  return { receiver, path: `${org.path}/services/${answer.body.id}` }
}

const arrived = (receiver: Receiver, count: number) =>
  eventually(`${count} requests`, async () => receiver.received.length >= count)

const resources = (receiver: Receiver, n: number): Json[] =>
  ((receiver.received[n]?.body.data ?? []) as unknown as Json[]).map(({ type, attributes }) => {
    expect(type).toBe('cipipeline_resource_request')
    return attributes?.resource ?? {}
  })

const commit = 'c0ffee'.padEnd(40, '0')

describe('a monitoring site', () => {
  it('is sent the run of a pipeline with its stages and jobs, tagged', async () => {
    const { org, admin } = await anOrg()
    const { receiver } = await aSite(org, admin, { monitoring_tags: 'team:platform\nenv:ci\n' })
    const pipeline = await aPipeline(
      app,
      org,
      'steps: [{command: turn, label: Turn, key: t}, {group: G, steps: [{command: grind}, {command: sift, soft_fail: true}]}]',
    )
    const author = { name: 'Ada', email: 'ada@example.com' }
    const build = await aBuild(app, org, pipeline, { creatorId: admin.id, commit, author, message: 'Why' })
    await runJob(app, build, 'turn')
    await runJob(app, build, 'sift', 1)
    await runJob(app, build, 'grind', 7)
    await arrived(receiver, 1)
    expect(receiver.received[0]).toMatchObject({
      method: 'POST',
      path: '/api/v2/ci/pipeline',
      headers: { 'dd-api-key': 'k'.repeat(32), 'content-type': 'application/json' },
    })
    const sent = resources(receiver, 0)
    expect(sent.map(({ level, name, status }) => [level, name, status])).toEqual([
      ['pipeline', pipeline.slug, 'error'],
      ['stage', 'Turn', 'success'],
      ['stage', 'G', 'error'],
      ['job', 'Turn', 'success'],
      ['job', 'grind', 'error'],
      ['job', 'sift', 'success'],
    ])
    const [run, , stage, , grind, sift] = sent
    expect(run).toMatchObject({
      unique_id: build.id,
      partial_retry: false,
      is_manual: true,
      queue_time: expect.any(Number),
      git: { sha: commit, branch: 'main', author_email: 'ada@example.com', message: 'Why' },
      tags: expect.arrayContaining(['team:platform', 'env:ci', `pipeline:${pipeline.slug}`]),
    })
    expect(grind).toMatchObject({
      id: await jobNamed(app, build, 'grind'),
      pipeline_unique_id: build.id,
      stage_id: stage?.id,
      stage_name: 'G',
      error: { message: 'The command exited with status 7.' },
      tags: expect.arrayContaining(['team:platform']),
    })
    expect(sift?.tags).toEqual(expect.arrayContaining(['soft_failed:true']))
    for (const one of sent) expect(Date.parse(String(one.end)) >= Date.parse(String(one.start))).toBe(true)
  })

  it('gets one run for a blocked build, and another one when it has continued', async () => {
    const { org, admin } = await anOrg()
    const { receiver } = await aSite(org, admin)
    const pipeline = await aPipeline(app, org, 'steps: [{command: one}, {block: Go}, {command: two}]')
    const build = await aBuild(app, org, pipeline)
    await runJob(app, build, 'one')
    await arrived(receiver, 1)
    const jobId = await jobNamed(app, build, 'Go')
    await applyEvent(app, build, { type: 'unblock', jobId, by: admin.id, answers: {} })
    await runJob(app, build, 'two')
    await arrived(receiver, 2)
    const [first, second] = [resources(receiver, 0)[0], resources(receiver, 1)[0]]
    expect(first).toMatchObject({ unique_id: build.id, status: 'blocked', is_resumed: false })
    expect(first).not.toHaveProperty('git')
    expect(second).toMatchObject({
      unique_id: `${build.id}-2`,
      status: 'success',
      is_resumed: true,
      partial_retry: false,
      previous_attempt: { id: build.id },
    })
    expect(resources(receiver, 1).map(({ name }) => name)).not.toContain('one')
  })

  it('is asked whether the key is valid when it is tested', async () => {
    const { org, admin } = await anOrg()
    const { receiver, path } = await aSite(org, admin)
    const answer = await app.request('POST', `${path}/test`, { token: admin.token })
    expect(answer.status).toBeLessThan(300)
    await arrived(receiver, 1)
    expect(receiver.received[0]).toMatchObject({
      method: 'GET',
      path: '/api/v1/validate',
      headers: { 'dd-api-key': 'k'.repeat(32) },
    })
  })
})
