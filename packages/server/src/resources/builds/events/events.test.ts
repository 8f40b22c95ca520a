import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { anAgent, anAgentWorld, type AgentWorld } from '../../../../test/agent-client.ts'
import { eventually, startApp, useApp } from '../../../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  aTeam,
  aToken,
  inTeam,
} from '../../../../test/builders.ts'
import { openStream, type SentEvent } from '../../../../test/event-stream.ts'
import { aSession } from '../../../../test/sessions.ts'
import { aBuild, applyEvent, jobNamed, runJob, startJob, type TestBuild } from '../../../../test/runs.ts'
import { endSession } from '../../../auth/sessions.ts'
import { uploadSteps } from '../../../conductor/upload.ts'
import { newId } from '../../../lib/ids.ts'

const app = useApp()

let world: AgentWorld

beforeAll(async () => {
  world = await anAgentWorld(app)
})

const eventsOf = (org: { path: string }, query = '') => `${org.path}/events${query}`

async function aScene(configuration = 'steps: [{ command: a }]', org = world.org) {
  const pipeline = await aPipeline(app, org, configuration)
  return { pipeline, build: await aBuild(app, org, pipeline) }
}

const hasBuild = (build: TestBuild, state: string) => (message: SentEvent) =>
  message.data.builds?.some(({ id, state: shown }) => id === build.id && shown === state) ?? false

const hasJob = (jobId: string, state: string) => (message: SentEvent) =>
  message.data.jobs?.some(({ job }) => job[0] === jobId && job[2] === state) ?? false

describe('GET ~/events', () => {
  it('begins with a cursor, and then has the builds that change', async () => {
    const { pipeline } = await aScene()
    const stream = await openStream(app, eventsOf(world.org), world.admin.token)
    const hello = await stream.until('hello', ({ event }) => event === 'hello')
    expect(hello.data.cursor).toBe(hello.id)
    const build = await aBuild(app, world.org, pipeline, { message: 'Line one\nline two' })
    const { data, event } = await stream.until('the new build', hasBuild(build, 'scheduled'))
    expect(event).toBe('changes')
    expect(data.builds?.find(({ id }) => id === build.id)).toEqual({
      id: build.id,
      pipeline_id: pipeline.id,
      pipeline_slug: pipeline.slug,
      number: build.number,
      state: 'scheduled',
      blocked: false,
      message: 'Line one\nline two',
      branch: 'main',
      commit: 'HEAD',
      created_at: expect.any(Number),
      started_at: null,
      finished_at: null,
      worked_before_seconds: 0,
    })
    await runJob(app, build, 'a')
    await stream.until('its end', hasBuild(build, 'passed'))
    expect(stream.messages.every(({ data: { jobs } }) => jobs === undefined)).toBe(true)
  })

  it('has the jobs of the builds asked for, as the graph shows them, with the jobs that they retry', async () => {
    const { build, pipeline } = await aScene(
      'steps: [{ command: a, retry: { automatic: { exit_status: 7, limit: 1 } } }, { block: b, depends_on: [] }]',
    )
    const { build: other } = await aScene()
    const stream = await openStream(app, eventsOf(world.org, `?build=${build.id}`), world.admin.token)
    await stream.until('hello', ({ event }) => event === 'hello')
    const first = await jobNamed(app, build, 'a')
    await runJob(app, other, 'a')
    await runJob(app, build, 'a', 7)
    await stream.until('the retry', ({ data }) =>
      Boolean(data.jobs?.some(({ job }) => job[0] === first && job[12] !== null)),
    )
    await runJob(app, build, 'a')
    const second = await jobNamed(app, build, 'a')
    const { data } = await stream.until('the second job', hasJob(second, 'passed'))
    const graph = await app.request('GET', `${pipeline.path}/builds/${build.number}/graph`, {
      token: world.admin.token,
    })
    expect(graph.body.jobs).toContainEqual(data.jobs?.find(({ job }) => job[0] === second)?.job)
    const jobs = stream.messages.flatMap((message) => message.data.jobs ?? [])
    expect(new Set(jobs.map(({ build_id }) => build_id))).toEqual(new Set([build.id]))
  })

  it('has a block job of a build asked for when it may be unblocked', async () => {
    const { build } = await aScene(
      'steps: [{ command: a, key: a }, { block: b, depends_on: a }, { command: c }]',
    )
    const stream = await openStream(app, eventsOf(world.org, `?build=${build.id}`), world.admin.token)
    await stream.until('hello', ({ event }) => event === 'hello')
    await runJob(app, build, 'a')
    const block = await jobNamed(app, build, 'b')
    const { data } = await stream.until('the block', (message) =>
      Boolean(message.data.jobs?.some(({ job }) => job[0] === block)),
    )
    expect(data.jobs?.find(({ job }) => job[0] === block)?.job).toMatchObject({ 2: 'blocked', 15: 1 })
  })

  it('says when steps were added to a build asked for', async () => {
    const { build } = await aScene()
    const stream = await openStream(app, eventsOf(world.org, `?build=${build.id}`), world.admin.token)
    await stream.until('hello', ({ event }) => event === 'hello')
    const steps = { text: 'steps: [{ command: late }]' }
    const jobId = await startJob(app, build, 'a')
    await uploadSteps(app.ctx, world.org.id, { uploadId: newId(), jobId, steps, replace: false })
    await stream.until('the graph', ({ data }) => data.graphs?.includes(build.id) ?? false)
    const late = await jobNamed(app, build, 'late')
    await stream.until('the new job', ({ data }) => Boolean(data.jobs?.some(({ job }) => job[0] === late)))
    expect(stream.ended()).toBe(false)
  })

  it('has agents that connect, take and end jobs, pause and leave', async () => {
    const here = await anAgentWorld(app)
    const stream = await openStream(app, eventsOf(here.org), here.admin.token)
    await stream.until('hello', ({ event }) => event === 'hello')
    const agent = await anAgent(app, here.token)
    const saw = (what: string, fields: object) =>
      stream.until(what, ({ data }) =>
        Boolean(
          data.agents?.some((shown) =>
            Object.entries({ id: agent.id, ...fields }).every(
              ([key, value]) => Reflect.get(shown, key) === value,
            ),
          ),
        ),
      )
    await saw('connected', { connection_state: 'connected', job_id: null })
    const { build } = await aScene('steps: [{ command: a }, { command: b }]', here.org)
    const run = await agent.begin()
    await saw('busy', { job_id: run.id })
    stream.messages.length = 0
    await run.finish()
    await saw('free', { job_id: null })
    const pause = (action: string) =>
      app.request('PUT', `${here.org.path}/agents/${agent.id}/${action}`, {
        token: here.admin.token,
        body: {},
      })
    await pause('pause')
    await saw('paused', { paused: true })
    stream.messages.length = 0
    await pause('resume')
    await saw('resumed', { paused: false })
    // Assigned, and given back: the job no longer names the agent.
    const offered = await agent.offered()
    await saw('offered', { job_id: offered })
    stream.messages.length = 0
    await applyEvent(app, build, { type: 'give_back', jobId: offered ?? '' })
    await saw('free again', { job_id: null })
    await agent.call('POST', 'disconnect')
    const { data } = await saw('disconnected', { connection_state: 'disconnected' })
    expect(data.agents).toContainEqual({
      id: agent.id,
      connection_state: 'disconnected',
      paused: false,
      cluster_id: here.cluster.id,
      queue_id: here.queue.id,
      job_id: null,
    })
  })

  it('has queues whose dispatch is paused and resumed', async () => {
    const stream = await openStream(app, eventsOf(world.org), world.admin.token)
    await stream.until('hello', ({ event }) => event === 'hello')
    for (const [action, paused] of [
      ['pause_dispatch', true],
      ['resume_dispatch', false],
    ] as const) {
      await app.request('POST', `${world.queue.path}/${action}`, { token: world.admin.token, body: {} })
      const { data } = await stream.until(action, ({ data: { queues } }) =>
        Boolean(queues?.some(({ dispatch_paused }) => dispatch_paused === paused)),
      )
      expect(data.queues).toEqual([
        { id: world.queue.id, cluster_id: world.cluster.id, dispatch_paused: paused },
      ])
    }
  })

  it('leaves out agents and queues without the scopes that their own endpoints need', async () => {
    const here = await anAgentWorld(app)
    const token = await aToken(app, here.admin, { scopes: ['read_builds'] })
    const [scoped, full] = [
      await openStream(app, eventsOf(here.org), token),
      await openStream(app, eventsOf(here.org), here.admin.token),
    ]
    await scoped.until('hello', ({ event }) => event === 'hello')
    await full.until('hello', ({ event }) => event === 'hello')
    await anAgent(app, here.token)
    await full.until('the agent', ({ data }) => data.agents !== undefined)
    const { build } = await aScene(undefined, here.org)
    await scoped.until('the build', hasBuild(build, 'scheduled'))
    expect(scoped.messages.some(({ data }) => data.agents !== undefined)).toBe(false)
  })

  it('never shows other tenants, nor pipelines that the caller may not read', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const member = await aMember(app, org)
    const team = await aTeam(app, org, admin)
    await inTeam(app, team, admin, member)
    await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
    const [hidden, open] = [await aScene(undefined, org), await aScene(undefined, org)]
    const give = await app.request('POST', `${team.path}/pipelines`, {
      token: admin.token,
      body: { pipeline_id: open.pipeline.id, access_level: 'read_only' },
    })
    expect(give.status).toBe(201)
    const query = `?build=${hidden.build.id}&build=${open.build.id}`
    const stranger = await openStream(app, eventsOf(world.org, query), world.admin.token)
    const stream = await openStream(app, eventsOf(org, query), member.token)
    await stranger.until('hello', ({ event }) => event === 'hello')
    await stream.until('hello', ({ event }) => event === 'hello')
    const uploading = await startJob(app, hidden.build, 'a')
    const steps = { text: 'steps: [{ command: late }]' }
    await uploadSteps(app.ctx, org.id, { uploadId: newId(), jobId: uploading, steps, replace: false })
    await runJob(app, open.build, 'a')
    await stream.until('the open build', hasBuild(open.build, 'passed'))
    await stream.until('its job', ({ data }) => data.jobs !== undefined)
    const { build } = await aScene()
    await stranger.until('their own build', hasBuild(build, 'scheduled'))
    const text = JSON.stringify([stream.messages, stranger.messages])
    expect(text).not.toContain(hidden.build.id)
    expect(text).not.toContain(hidden.pipeline.id)
    expect(JSON.stringify(stranger.messages)).not.toContain(open.build.id)
    // The job of an agent is shown like the job itself.
    await app.request('DELETE', `${team.path}/pipelines/${open.pipeline.id}`, { token: admin.token })
    const before = stream.messages.length
    const another = await aBuild(app, org, open.pipeline)
    const shown = await aPipeline(app, org, 'steps: [{ command: a }]', { visibility: 'public' })
    const last = await aBuild(app, org, shown)
    await stream.until('a public build', hasBuild(last, 'scheduled'))
    expect(JSON.stringify(stream.messages.slice(before))).not.toContain(another.id)
  })

  it('ends at once when the token is revoked or the membership ends', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const member = await aMember(app, org)
    const revoked = await openStream(app, eventsOf(org), member.token)
    const left = await openStream(app, eventsOf(org), await aToken(app, member))
    const kept = await openStream(app, eventsOf(org), admin.token)
    for (const stream of [revoked, left, kept]) await stream.until('hello', ({ event }) => event === 'hello')
    await app.request('DELETE', '/v2/access-token', { token: member.token })
    const { build } = await aScene(undefined, org)
    await kept.until('the build', hasBuild(build, 'scheduled'))
    await eventually('the stream of a revoked token ends', async () => revoked.ended())
    expect(JSON.stringify(revoked.messages)).not.toContain(build.id)
    await app.request('DELETE', `${org.path}/members/${member.id}`, { token: admin.token })
    await eventually('the stream of a former member ends', async () => left.ended())
    expect(kept.ended()).toBe(false)
  })

  it('takes the session of a page, and ends with it', async () => {
    const session = await aSession(app, world.admin)
    const stream = await openStream(app, eventsOf(world.org), null, session)
    await stream.until('hello', ({ event }) => event === 'hello')
    await endSession(app.db, session.Cookie.split('=')[1] ?? '')
    await eventually('the stream ends', async () => stream.ended())
    const foreign = { ...(await aSession(app, world.admin)), Origin: 'https://evil.example' }
    expect((await openStream(app, eventsOf(world.org), null, foreign)).status).toBe(401)
  })

  it('continues after a cursor or Last-Event-ID, also on a server that was started since', async () => {
    const { build, pipeline } = await aScene('steps: [{ command: a }, { command: b }, { command: c }]')
    const other = await startApp({}, app.database)
    const query = `?build=${build.id}`
    const stream = await openStream(other, eventsOf(world.org, query), world.admin.token)
    const hello = await stream.until('hello', ({ event }) => event === 'hello')
    await runJob(app, build, 'a')
    await stream.until('a', hasJob(await jobNamed(app, build, 'a'), 'passed'))
    // A message shows the newest state, and its cursor may be older. That of a later change has the end of `a` behind it.
    const later = await aBuild(app, world.org, pipeline)
    await stream.until('a later build', hasBuild(later, 'scheduled'))
    const cursor = stream.cursor()
    await other.close()
    await eventually('the stream ends with its server', async () => stream.ended())
    await runJob(app, build, 'b')
    const b = await jobNamed(app, build, 'b')
    const next = await startApp({}, app.database)
    try {
      const after = encodeURIComponent(cursor)
      const resumed = await openStream(
        next,
        eventsOf(world.org, `${query}&after=${after}`),
        world.admin.token,
      )
      await resumed.until('b', hasJob(b, 'passed'))
      const byHeader = await openStream(
        next,
        eventsOf(world.org, `${query}&after=${encodeURIComponent(hello.id ?? '')}`),
        world.admin.token,
        { 'last-event-id': cursor },
      )
      await byHeader.until('b', hasJob(b, 'passed'))
      const a = await jobNamed(app, build, 'a')
      for (const each of [resumed, byHeader])
        expect(each.messages.flatMap(({ data }) => data.jobs ?? []).map(({ job }) => job[0])).not.toContain(a)
      const graph = await app.request('GET', `${pipeline.path}/builds/${build.number}/graph`, {
        token: world.admin.token,
      })
      await runJob(app, build, 'c')
      const c = await jobNamed(app, build, 'c')
      const fromGraph = `${query}&after=${encodeURIComponent(String(graph.body.cursor))}`
      const last = await openStream(next, eventsOf(world.org, fromGraph), world.admin.token)
      await last.until('c', hasJob(c, 'passed'))
    } finally {
      await next.close()
    }
  })

  it('sends reset for a cursor that this database has not reached', async () => {
    const stream = await openStream(
      app,
      eventsOf(world.org, '?after=99999999999:99999999999:'),
      world.admin.token,
    )
    const reset = await stream.until('reset', ({ event }) => event === 'reset')
    expect(reset.data.cursor).toBe(reset.id)
    const { build } = await aScene()
    await stream.until('a later build', hasBuild(build, 'scheduled'))
  })

  it('answers 400 to what is no cursor, no build or too many, and 404 to strangers', async () => {
    const get = (query: string, token = world.admin.token) =>
      app.request('GET', eventsOf(world.org, query), { token })
    for (const after of ['x', '1:2', '1:2:3,', `1:2:${'3,'.repeat(4000)}3`])
      expect((await get(`?after=${after}`)).status).toBe(400)
    expect((await get('?build=1')).status).toBe(400)
    const nine = Array.from({ length: 9 }, () => `build=${newId()}`).join('&')
    expect((await get(`?${nine}`)).status).toBe(400)
    const stranger = await anAdmin(app, await anOrganization(app))
    expect((await get('', stranger.token)).status).toBe(404)
    expect((await get('', await aToken(app, world.admin, { scopes: ['read_pipelines'] }))).status).toBe(403)
    const head = await app.request('HEAD', eventsOf(world.org), { token: world.admin.token })
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
  })

  it('is not delayed by a long transaction, and misses nothing of it', async () => {
    const { build, pipeline } = await aScene('steps: [{ command: a }]')
    const stream = await openStream(app, eventsOf(world.org, `?build=${build.id}`), world.admin.token)
    await stream.until('hello', ({ event }) => event === 'hello')
    let late: TestBuild | undefined
    await app.db.transaction().execute(async (trx) => {
      await sql`select pg_current_xact_id()`.execute(trx)
      late = await aBuild(app, world.org, pipeline)
      await sql`
        insert into events (organization_id, pipeline_id, build_id, kind, created_at)
        values (${world.org.id}, ${pipeline.id}, ${build.id}, 'build.changed', now())`.execute(trx)
      await stream.until('the change of another transaction', hasBuild(late, 'scheduled'))
      expect(stream.messages.some(hasBuild(build, 'scheduled'))).toBe(false)
    })
    await stream.until('the change of the long transaction', hasBuild(build, 'scheduled'))
  })
})
