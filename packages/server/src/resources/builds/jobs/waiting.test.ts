import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../../../test/app.ts'
import {
  aCluster,
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  aQueue,
  aTeam,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { aBuild, jobNamed, runJob, startJob, applyEvent, type TestBuild } from '../../../../test/runs.ts'
import { newId } from '../../../lib/ids.ts'

const app = useApp()

async function anOrg(): Promise<{ org: TestOrganization; admin: TestUser }> {
  const org = await anOrganization(app)
  return { org, admin: await anAdmin(app, org) }
}

async function why(org: TestOrganization, reader: TestUser, build: TestBuild, name: string) {
  const path = `${org.path}/jobs/${await jobNamed(app, build, name)}/waiting`
  const answer = await app.request('GET', path, { token: reader.token })
  expect(answer.status).toBe(200)
  return answer.body
}

describe('GET …/jobs/{job.id}/waiting', () => {
  it('names the steps a job waits for and their states, through a wait', async () => {
    const { org, admin } = await anOrg()
    const pipeline = await aPipeline(
      app,
      org,
      '[{ command: a, label: Unit, key: unit }, { command: b, label: Lint }, { command: x }, wait, { command: c }]',
    )
    const build = await aBuild(app, org, pipeline)
    await startJob(app, build, 'a')
    await runJob(app, build, 'x')
    const body = await why(org, admin, build, 'c')
    expect(body).toMatchObject({
      state: 'waiting',
      code: 'waiting_on_steps',
      reason: 'The job waits for "Unit" (running) and "Lint" (ready).',
      waiting_on: [
        { type: 'step', key: 'unit', name: 'Unit', state: 'running' },
        { type: 'step', key: null, name: 'Lint', state: 'ready' },
      ],
      jobs_ahead: null,
      eligible_agents: null,
    })
    const long = `${pipeline.path}/builds/${build.number}/jobs/${await jobNamed(app, build, 'c')}/waiting`
    expect((await app.request('GET', long, { token: admin.token })).body).toEqual(body)
  })

  it('names a key that no step has', async () => {
    const { org, admin } = await anOrg()
    const build = await aBuild(
      app,
      org,
      await aPipeline(app, org, '[{ command: a }, { command: b, depends_on: later }]'),
    )
    expect(await why(org, admin, build, 'b')).toMatchObject({
      code: 'waiting_on_steps',
      reason: 'The job waits for the key "later", which no step has yet.',
      waiting_on: [{ type: 'key', key: 'later' }],
    })
  })

  it('names the block that holds a job up, and says that the block itself waits for a person', async () => {
    const { org, admin } = await anOrg()
    const steps = '[{ command: a }, { block: Ship?, key: ship }, { command: b }, wait, { command: c }]'
    const build = await aBuild(app, org, await aPipeline(app, org, steps))
    expect(await why(org, admin, build, 'Ship?')).toMatchObject({
      state: 'blocked',
      code: 'waiting_on_steps',
      reason: 'The job waits for a step (ready).',
    })
    await runJob(app, build, 'a')
    expect(await why(org, admin, build, 'Ship?')).toMatchObject({
      code: 'blocked_by',
      reason: 'The job waits for somebody to unblock it.',
    })
    const id = await jobNamed(app, build, 'Ship?')
    expect(await why(org, admin, build, 'c')).toMatchObject({
      state: 'blocked',
      code: 'blocked_by',
      reason: 'The job waits for somebody to unblock "Ship?".',
      waiting_on: [
        { type: 'block', id, key: 'ship', name: 'Ship?', url: `${baseUrl}${org.path}/jobs/${id}` },
      ],
    })
  })

  it('says who holds a concurrency group, to what limit, and how many come first', async () => {
    const { org, admin } = await anOrg()
    const steps = '[{ command: deploy, label: Deploy, concurrency: 1, concurrency_group: prod }]'
    const pipeline = await aPipeline(app, org, steps)
    const builds = [
      await aBuild(app, org, pipeline),
      await aBuild(app, org, pipeline),
      await aBuild(app, org, pipeline),
    ]
    const holder = await startJob(app, builds[0], 'deploy')
    expect(await why(org, admin, builds[2], 'deploy')).toMatchObject({
      state: 'limited',
      code: 'concurrency_group',
      reason: `The job waits for its turn in the concurrency group "prod": 1 of 1 slots are held by ${pipeline.slug} #1, and 1 job comes first.`,
      concurrency: { group: 'prod', limit: 1, method: 'ordered', held: 1 },
      jobs_ahead: 1,
      waiting_on: [
        {
          type: 'job',
          id: holder,
          name: 'Deploy',
          state: 'running',
          url: `${baseUrl}${pipeline.path}/builds/1/jobs/${holder}`,
        },
      ],
    })
  })

  it('counts jobs of pipelines the caller may not see, and names none of them', async () => {
    const { org, admin } = await anOrg()
    const steps = '[{ command: deploy, concurrency: 1, concurrency_group: prod }]'
    const [secret, open] = [
      await aPipeline(app, org, steps),
      await aPipeline(app, org, steps, { visibility: 'public' }),
    ]
    await startJob(app, await aBuild(app, org, secret), 'deploy')
    const build = await aBuild(app, org, open)
    await aTeam(app, org, admin)
    await app.db
      .updateTable('organizations')
      .set({ teams_enabled_at: new Date().toISOString() })
      .where('id', '=', org.id)
      .execute()
    const body = await why(org, await aMember(app, org), build, 'deploy')
    expect(body).toMatchObject({ code: 'concurrency_group', concurrency: { held: 1 }, waiting_on: [] })
    expect(JSON.stringify(body)).not.toContain(secret.slug)
  })

  it('says when there is no queue for the job', async () => {
    const { org, admin } = await anOrg()
    const homeless = await aBuild(
      app,
      org,
      await aPipeline(app, org, '[{ command: a }]', { cluster_id: null }),
    )
    expect(await why(org, admin, homeless, 'a')).toMatchObject({
      state: 'scheduled',
      code: 'no_queue',
      reason: 'The pipeline belongs to no cluster, so no agent can take its jobs.',
    })
    const cluster = await aCluster(app, org, admin)
    await app.db
      .updateTable('clusters')
      .set({ default_queue_id: null })
      .where('id', '=', cluster.id)
      .execute()
    const steps = '[{ command: a }, { command: b, agents: { queue: nowhere } }]'
    const build = await aBuild(app, org, await aPipeline(app, org, steps, { cluster_id: cluster.id }))
    expect((await why(org, admin, build, 'a')).reason).toBe(
      'The job names no queue, and the cluster has no default queue.',
    )
    expect((await why(org, admin, build, 'b')).reason).toBe('The cluster has no queue "nowhere".')
  })

  it('says when the queue is paused, by whom and why', async () => {
    const { org, admin } = await anOrg()
    const cluster = await aCluster(app, org, admin)
    const queue = await aQueue(app, cluster, admin, { key: 'big' })
    await app.request('POST', `${queue.path}/pause_dispatch`, {
      token: admin.token,
      body: { note: 'Moving house' },
    })
    const steps = '[{ command: a, agents: { queue: big } }]'
    const build = await aBuild(app, org, await aPipeline(app, org, steps, { cluster_id: cluster.id }))
    expect(await why(org, admin, build, 'a')).toMatchObject({
      code: 'queue_paused',
      reason: `The queue "big" is paused by ${admin.name}: Moving house.`,
      queue: {
        id: queue.id,
        key: 'big',
        dispatch_paused_by: { id: admin.id },
        dispatch_paused_note: 'Moving house',
      },
    })
  })

  it('says when no agent has what the rules ask for, and how many jobs come first when one does', async () => {
    const { org, admin } = await anOrg()
    const cluster = await aCluster(app, org, admin)
    const queue = await aQueue(app, cluster, admin, { key: 'big' })
    const steps = `
      - { command: a, agents: { queue: big, os: linux } }
      - { command: b, agents: { queue: big, os: linux }, priority: 5 }
      - { command: c, agents: { queue: big, os: "*" }, priority: -1 }`
    const build = await aBuild(app, org, await aPipeline(app, org, steps, { cluster_id: cluster.id }))
    expect(await why(org, admin, build, 'a')).toMatchObject({
      code: 'no_agent',
      reason: 'The queue "big" has no connected agent that has os=linux.',
      agent_query_rules: ['queue=big', 'os=linux'],
      jobs_ahead: 1,
      eligible_agents: 0,
    })
    await anAgent(org, cluster, queue, ['queue=big', 'os=windows'])
    expect(await why(org, admin, build, 'a')).toMatchObject({ code: 'no_agent', eligible_agents: 0 })
    expect(await why(org, admin, build, 'c')).toMatchObject({
      code: 'jobs_ahead',
      eligible_agents: 1,
      jobs_ahead: 2,
    })
    await anAgent(org, cluster, queue, ['queue=big', 'os=linux', 'ram=big'])
    expect(await why(org, admin, build, 'a')).toMatchObject({
      code: 'jobs_ahead',
      reason: '1 job comes first in the queue "big".',
      jobs_ahead: 1,
      eligible_agents: 1,
    })
    expect(await why(org, admin, build, 'b')).toMatchObject({ code: 'agents_busy', jobs_ahead: 0 })
  })

  it('says of a job that runs or has ended that it does not wait', async () => {
    const { org, admin } = await anOrg()
    const build = await aBuild(app, org, await aPipeline(app, org, '[{ command: a }, { command: b }]'))
    await startJob(app, build, 'a')
    await applyEvent(app, build, { type: 'cancel_job', jobId: await jobNamed(app, build, 'b') })
    expect(await why(org, admin, build, 'a')).toMatchObject({
      state: 'running',
      code: 'not_waiting',
      reason: 'The job does not wait: it is running.',
    })
    expect(await why(org, admin, build, 'b')).toMatchObject({
      code: 'not_waiting',
      reason: 'The job has ended: it is canceled.',
    })
  })
})

async function anAgent(
  org: TestOrganization,
  cluster: { id: string },
  queue: { id: string },
  tags: string[],
): Promise<void> {
  await app.db
    .insertInto('agents')
    .values({
      id: newId(),
      organization_id: org.id,
      cluster_id: cluster.id,
      queue_id: queue.id,
      name: 'agent',
      session_hash: randomBytes(32),
      tags,
      connection_state: 'connected',
    })
    .execute()
}
