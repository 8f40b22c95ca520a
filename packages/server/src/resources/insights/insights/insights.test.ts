import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { anAgent, anAgentWorld } from '../../../../test/agent-client.ts'
import { useApp, type Json } from '../../../../test/app.ts'
import {
  aCluster,
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  aQueue,
  aTeam,
  inTeam,
  withFeature,
  withoutFeature,
  type TestOrganization,
} from '../../../../test/builders.ts'
import { aBuild, applyEvent, jobNamed, runJob, startJob } from '../../../../test/runs.ts'
import type { Context } from '../../../context.ts'
import { newId } from '../../../lib/ids.ts'
import { expireInsights } from './expire.ts'
import { foldJobEnds, mostSubjects } from './fold.ts'
import { sampleQueues } from './sample-queues.ts'

const app = useApp()
const fold = (ctx: Context = app.ctx) => foldJobEnds(ctx, new AbortController().signal)

async function aWorld() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const cluster = await aCluster(app, org, admin)
  const queue = await aQueue(app, cluster, admin, { price_per_minute: 0.6 })
  const configuration = JSON.stringify([
    { command: 'make', key: 'unit', agents: [`queue=${queue.key}`] },
    { command: 'lint', label: '=Lint()', agents: [`queue=${queue.key}`] },
  ])
  const pipeline = await aPipeline(app, org, configuration)
  const ask = async (query = '', token = admin.token) => {
    const answer = await app.request('GET', `${org.path}/insights${query}`, { token })
    return { ...answer, groups: (answer.body['groups'] ?? []) as unknown as Json[] }
  }
  return { org, admin, cluster, queue, configuration, pipeline, ask }
}

/** The facts that tests cannot wait for. */
const takes = (org: TestOrganization, step: string, waitMs: number, runMs: number) =>
  sql`update job_ends set wait_ms = ${waitMs}, run_ms = ${runMs} where organization_id = ${org.id} and step = ${step}`.execute(
    app.db,
  )

const insertEnds = (org: TestOrganization, pipelineId: string, steps: number) =>
  sql`
    insert into job_ends (organization_id, job_id, build_id, pipeline_id, step, ended_at, has_failed, is_retry, wait_ms, run_ms, price_micros)
    select ${org.id}, gen_random_uuid(), ${newId()}, ${pipelineId}, 'step ' || n, now(), false, false, 1000, 1000, 0
    from generate_series(1, ${steps}::int) n`.execute(app.db)

describe('GET /v2/organizations/{org.slug}/insights', () => {
  it('has how long jobs waited and ran, how many failed and what they cost, for each grouping', async () => {
    const { org, admin, queue, cluster, pipeline, ask } = await aWorld()
    const team = await aTeam(app, org, admin)
    await app.request('POST', `${team.path}/pipelines`, {
      token: admin.token,
      body: { pipeline_id: pipeline.id, access_level: 'read_only' },
    })
    const build = await aBuild(app, org, pipeline, { creatorId: admin.id })
    await runJob(app, build, 'make', 0)
    await runJob(app, build, 'lint', 1)
    await takes(org, 'unit', 10_000, 120_000)
    await takes(org, '=Lint()', 20_000, 30_000)
    await fold()
    const all = { jobs: 2, failures: 1, retries: 0, seconds: 150, cost: 1.5 }
    const answer = await ask('?group_by=queue&period=1h')
    expect(answer.body).toMatchObject({
      group_by: 'queue',
      period: '1h',
      unit_seconds: 60,
      currency: 'USD',
      total: all,
      groups: [
        {
          ...all,
          id: queue.id,
          name: queue.key,
          cluster_id: cluster.id,
          points: [[expect.any(Number), 2, 1, 150, 1.5]],
        },
      ],
    })
    const total = answer.body['total'] as unknown as Record<string, number>
    for (const [name, seconds] of [
      ['wait_p50_seconds', 10],
      ['wait_p95_seconds', 20],
      ['run_p50_seconds', 30],
      ['run_p95_seconds', 120],
    ] as const)
      expect(Math.abs((total[name] ?? 0) / seconds - 1)).toBeLessThan(0.05)
    for (const period of ['24h', '7d', '30d']) {
      const { body } = await ask(`?group_by=pipeline&period=${period}`)
      expect(body).toMatchObject({
        total: { ...all, points: [all] },
        groups: [{ ...all, id: pipeline.id, pipeline: { id: pipeline.id, slug: pipeline.slug } }],
      })
    }
    expect((await ask('?group_by=team')).groups).toMatchObject([{ ...all, id: team.id, name: team.name }])
    expect((await ask('?group_by=creator')).groups).toMatchObject([
      { ...all, id: admin.id, name: admin.name },
    ])
    expect((await ask('?group_by=step')).groups).toMatchObject([
      { name: 'unit', jobs: 1, failures: 0, cost: 1.2, pipeline: { slug: pipeline.slug } },
      { name: '=Lint()', jobs: 1, failures: 1, cost: 0.3 },
    ])
  })

  it('counts each job by the price at its end, in the currency of the organization', async () => {
    const { org, admin, queue, pipeline, ask } = await aWorld()
    const build = await aBuild(app, org, pipeline)
    await runJob(app, build, 'make')
    const change = (path: string, body: object) => app.request('PATCH', path, { token: admin.token, body })
    const priced = await change(queue.path, { price_per_minute: 0.123457 })
    expect(priced.body).toMatchObject({ price_per_minute: 0.123457 })
    await change(`${org.path}/pipeline-settings`, { currency: 'EUR' })
    await runJob(app, build, 'lint')
    await takes(org, 'unit', 0, 60_000)
    await takes(org, '=Lint()', 0, 60_000)
    await fold()
    expect((await ask()).body).toMatchObject({ currency: 'EUR', total: { cost: 0.723457 } })
    const shown = await app.request('GET', `${pipeline.path}/builds/${build.number}`, { token: admin.token })
    expect(shown.body).toMatchObject({ cost: { amount: 0.723457, currency: 'EUR' } })
    const free = await aBuild(app, org, pipeline)
    const other = await app.request('GET', `${pipeline.path}/builds/${free.number}`, { token: admin.token })
    expect(other.body).not.toHaveProperty('cost')
    expect((await change(queue.path, { price_per_minute: -1 })).status).toBe(422)
    expect((await change(`${org.path}/pipeline-settings`, { currency: 'euro' })).status).toBe(422)
    const { token } = await aMember(app, org)
    const refused = await app.request('PATCH', queue.path, { token, body: { price_per_minute: 1 } })
    expect(refused.status).toBe(403)
  })

  it('sorts, pages and filters', async () => {
    const { org, queue, configuration, pipeline, ask } = await aWorld()
    const other = await aPipeline(app, org, configuration)
    for (const each of [pipeline, other]) {
      const build = await aBuild(app, org, each)
      await runJob(app, build, 'make')
      await runJob(app, build, 'lint')
    }
    await takes(org, '=Lint()', 5, 60_000)
    await takes(org, 'unit', 50_000, 1)
    await fold()
    const names = async (query: string) => (await ask(query)).groups.map(({ name }) => name)
    expect(await names('?group_by=step&sort=seconds')).toEqual(['=Lint()', '=Lint()', 'unit', 'unit'])
    expect(await names('?group_by=step&sort=wait_p95')).toEqual(['unit', 'unit', '=Lint()', '=Lint()'])
    const first = await ask('?group_by=step&sort=seconds&per_page=3')
    expect([first.groups.length, first.headers.get('link')]).toEqual([
      3,
      expect.stringContaining('rel="next"'),
    ])
    expect(await names('?group_by=step&sort=seconds&per_page=3&page=2')).toEqual(['unit'])
    expect((await ask(`?pipeline=${other.slug}`)).body).toMatchObject({
      total: { jobs: 2 },
      groups: [{ id: other.id, jobs: 2 }],
    })
    expect((await ask(`?queue=${queue.id}`)).body).toMatchObject({ total: { jobs: 4 } })
    expect((await ask(`?queue=${newId()}`)).body).toMatchObject({
      total: { jobs: 0, points: [] },
      groups: [],
    })
    const past = new Date(Date.now() - 5 * 60 * 60_000).toISOString()
    expect((await ask(`?period=1h&from=${past}`)).body).toMatchObject({ total: { jobs: 0 } })
    expect((await ask('?period=2h')).status).toBe(400)
  })

  it('counts retries and jobs that expired, and nothing that never had an agent', async () => {
    const { org, admin, pipeline, ask } = await aWorld()
    const build = await aBuild(app, org, pipeline)
    await runJob(app, build, 'make', 1)
    const failed = await jobNamed(app, build, 'make')
    const path = `${pipeline.path}/builds/${build.number}`
    await app.request('PUT', `${path}/jobs/${failed}/retry`, { token: admin.token })
    await runJob(app, build, 'make')
    await applyEvent(app, build, { type: 'expire', jobId: await jobNamed(app, build, 'lint') })
    await fold()
    expect((await ask()).body).toMatchObject({ total: { jobs: 3, failures: 2, retries: 1 } })
    const canceled = await aBuild(app, org, pipeline)
    const jobId = await startJob(app, canceled, 'make')
    await app.request('PUT', `${pipeline.path}/builds/${canceled.number}/cancel`, { token: admin.token })
    await applyEvent(app, canceled, {
      type: 'finish',
      jobId,
      exitStatus: -1,
      signal: 'SIGTERM',
      signalReason: null,
    })
    await fold()
    expect((await ask()).body).toMatchObject({ total: { jobs: 4, failures: 2, retries: 1 } })
  })

  it('counts every job once, whoever counts it and whatever is killed', async () => {
    const { org, pipeline, ask } = await aWorld()
    await insertEnds(org, pipeline.id, 1200)
    const counted: number[] = []
    const killed = app.db.transaction().execute(async (trx) => {
      await fold({ ...app.ctx, db: trx })
      const { rows } = await sql`select from insight_days where organization_id = ${org.id}`.execute(trx)
      counted.push(rows.length)
      throw new Error('killed')
    })
    await expect(killed).rejects.toThrow('killed')
    expect(counted[0]).toBeGreaterThan(0)
    expect((await ask()).body).toMatchObject({ total: { jobs: 0 } })
    await Promise.all([fold(), fold(), fold()])
    await fold()
    expect((await ask('?period=30d')).body).toMatchObject({ total: { jobs: 1200, seconds: 1200 } })
  })

  it('counts so many steps of an organization apart, and the rest together', async () => {
    const { org, pipeline, ask } = await aWorld()
    await sql`
      insert into insight_subjects (organization_id, dimension, id, pipeline_id, name, seen_on)
      select ${org.id}, 'step', gen_random_uuid(), ${pipeline.id}, 'other', now()
      from generate_series(1, ${mostSubjects.step - 3}::int)`.execute(app.db)
    await insertEnds(org, pipeline.id, 10)
    await fold()
    await insertEnds(org, pipeline.id, 10)
    await fold()
    const { groups } = await ask('?group_by=step&sort=jobs')
    expect(groups[0]).toMatchObject({ id: null, name: null, jobs: 14 })
    expect(groups.slice(1).map(({ jobs }) => jobs)).toEqual([2, 2, 2])
    const kept =
      await sql`select from insight_subjects where organization_id = ${org.id} and dimension = 'step'`.execute(
        app.db,
      )
    expect(kept.rows).toHaveLength(mostSubjects.step)
  })

  it('keeps the cost of a deleted pipeline', async () => {
    const { org, admin, pipeline, ask } = await aWorld()
    await runJob(app, await aBuild(app, org, pipeline), 'make')
    await takes(org, 'unit', 0, 60_000)
    await fold()
    await app.request('DELETE', pipeline.path, { token: admin.token })
    expect((await ask()).groups).toMatchObject([{ id: pipeline.id, name: null, pipeline: null, cost: 0.6 }])
  })

  it('shows how many agents of a queue had a job', async () => {
    const world = await anAgentWorld(app)
    const ask = async (query: string) =>
      (await app.request('GET', `${world.org.path}/insights${query}`, { token: world.admin.token })).body
    const pipeline = await aPipeline(app, world.org, '[{command: a}]', { cluster_id: world.cluster.id })
    await aBuild(app, world.org, pipeline)
    await (await anAgent(app, world.token)).begin()
    await anAgent(app, world.token)
    const at = new Date()
    await sampleQueues({ ...app.ctx, now: () => at })
    await sampleQueues({ ...app.ctx, now: () => at })
    for (const period of ['1h', '24h', '30d'])
      expect(await ask(`?group_by=queue&period=${period}`)).toMatchObject({
        groups: [
          {
            id: world.queue.id,
            jobs: 0,
            load: { waiting: 0, running: 1, connected: 2, busy: 1, utilization: 0.5 },
          },
        ],
      })
    const { rows } = await sql<{ minutes: number }>`
      select minutes from queue_samples where queue_id = ${world.queue.id}`.execute(app.db)
    expect(rows).toEqual([{ minutes: 1 }, { minutes: 1 }, { minutes: 1 }])
  })

  it('never has jobs of pipelines that the caller may not see, or teams', async () => {
    const { org, admin, configuration, pipeline: hidden, ask } = await aWorld()
    const shared = await aPipeline(app, org, configuration)
    const [mine, theirs] = [await aTeam(app, org, admin), await aTeam(app, org, admin)]
    const give = (team: { path: string }, id: string) =>
      app.request('POST', `${team.path}/pipelines`, {
        token: admin.token,
        body: { pipeline_id: id, access_level: 'read_only' },
      })
    await give(mine, shared.id)
    await give(theirs, shared.id)
    await give(theirs, hidden.id)
    const member = await aMember(app, org)
    await withoutFeature(app, org, 'members_view_teams')
    await inTeam(app, mine, admin, member)
    await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
    for (const each of [hidden, shared]) await runJob(app, await aBuild(app, org, each), 'make')
    const other = await aWorld()
    await runJob(app, await aBuild(app, other.org, other.pipeline), 'make')
    await fold()
    const seen = async (groupBy: string, query = '') => {
      const { body, groups } = await ask(`?group_by=${groupBy}${query}`, member.token)
      return [body['total']?.['jobs'], ...groups.map(({ id, jobs }) => `${id} ${jobs}`)]
    }
    expect(await seen('pipeline')).toEqual([1, `${shared.id} 1`])
    expect(await seen('pipeline', `&pipeline=${hidden.slug}`)).toEqual([0])
    expect(await seen('team')).toEqual([1, `${mine.id} 1`])
    for (const groupBy of ['queue', 'creator', 'step'])
      expect((await seen(groupBy))[1]).toEqual(expect.stringMatching(/ 1$/))
    await withFeature(app, org, 'members_view_teams')
    expect(new Set((await seen('team')).slice(1))).toEqual(new Set([`${mine.id} 1`, `${theirs.id} 1`]))
    expect((await ask('', other.admin.token)).status).toBe(404)
    expect((await ask()).body).toMatchObject({ total: { jobs: 2 } })
  })
})

describe('GET /v2/organizations/{org.slug}/insights.csv', () => {
  it('has a line for each group, in which no name is a formula', async () => {
    const { org, admin, pipeline } = await aWorld()
    await runJob(app, await aBuild(app, org, pipeline), 'lint')
    await takes(org, '=Lint()', 0, 60_000)
    await fold()
    const answer = await app.request('GET', `${org.path}/insights.csv?group_by=step`, { token: admin.token })
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    const [head, line, end] = answer.text.split('\r\n')
    expect(head).toMatch(/^id,name,pipeline,jobs,failures,retries,seconds,cost,currency,/)
    expect(line).toContain(`,'=Lint(),${pipeline.slug},1,0,0,60,0.6,USD,`)
    expect(end).toBe('')
  })
})

it('rows end when no period shows them any more', async () => {
  const { org, pipeline, ask } = await aWorld()
  await insertEnds(org, pipeline.id, 3)
  await fold()
  const count = async (table: string) =>
    (await sql`select from ${sql.table(table)} where organization_id = ${org.id}`.execute(app.db)).rows.length
  const later = (hours: number) => ({ ...app.ctx, now: () => new Date(Date.now() + hours * 60 * 60_000) })
  await expireInsights(later(2))
  expect(await count('insight_minutes')).toBeGreaterThan(0)
  await expireInsights(later(5))
  expect([await count('insight_minutes'), await count('insight_hours')]).toEqual([0, expect.any(Number)])
  expect((await ask()).body).toMatchObject({ total: { jobs: 3 } })
  await expireInsights(later(16 * 24))
  expect([await count('insight_hours'), await count('insight_subjects')]).toEqual([0, 3])
  await expireInsights(later(64 * 24))
  expect([await count('insight_days'), await count('insight_subjects')]).toEqual([0, 0])
})
