import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../test/app.ts'
import { aCluster, aPipeline, aTeam, inTeam } from '../../test/builders.ts'
import { aBuild, jobNamed, runJob, startJob, applyEvent, type TestBuild } from '../../test/runs.ts'
import { useNotifications, type TestService } from '../../test/notifications.ts'

const notifications = useNotifications()
const { app, anOrg, aService } = notifications

/** All events of the service, once it has got the end of the build. */
async function eventsUntilEnd(service: TestService, build: TestBuild) {
  await eventually('the end of the build', async () =>
    service
      .events()
      .some(({ event, build: shown }) => String(event) === 'build.finished' && String(shown.id) === build.id),
  )
  return service.events()
}

describe('a webhook', () => {
  it('is pinged only when it is created and when its settings change', async () => {
    const { org, admin } = await anOrg()
    const { receiver, id, path, body } = await aService(org, admin, { settings: { events: [] } })
    const patch = (change: object) => app.request('PATCH', path, { token: admin.token, body: change })
    await patch({ description: 'New' })
    await patch(body)
    await patch({ settings: { tls_verify: false } })
    await notifications.untilDelivered({ id })
    expect(receiver.received.map(({ body: ping }) => ping)).toEqual(
      [1, 2].map(() => ({
        event: 'ping',
        service: { id, provider: 'webhook', settings: { url: receiver.url } },
        organization: expect.objectContaining({ id: org.id, slug: org.slug, agents_url: expect.any(String) }),
        sender: { id: admin.id, name: admin.name },
      })),
    )
  })

  it('gets its events in order, with the objects of the REST API', async () => {
    const { org, admin } = await anOrg()
    const events = [
      'build.scheduled',
      'build.running',
      'build.finished',
      'job.scheduled',
      'job.started',
      'job.finished',
    ]
    const service = await aService(org, admin, { settings: { events } })
    const pipeline = await aPipeline(app, org, 'steps: [{command: turn, label: Turn}]')
    const build = await aBuild(app, org, pipeline, {
      creatorId: admin.id,
      env: { SECRET: 'x' },
      metaData: { release: '1' },
    })
    await runJob(app, build, 'turn')
    const received = await eventsUntilEnd(service, build)
    expect(received.map(({ event }) => event)).toEqual([
      'job.scheduled',
      'build.scheduled',
      'job.started',
      'build.running',
      'job.finished',
      'build.finished',
    ])
    for (const { build: shown, pipeline: of, sender } of received) {
      expect(shown).toMatchObject({ id: build.id, number: build.number, meta_data: { release: '1' } })
      expect(Object.keys(shown)).not.toEqual(expect.arrayContaining(['env']))
      expect(shown).not.toHaveProperty('jobs')
      expect(of).toMatchObject({ id: pipeline.id, provider: { webhook_url: '' }, env: {} })
      expect(sender).toEqual({ id: admin.id, name: admin.name })
    }
    const states = Object.fromEntries(
      received.map(({ event, job, build: shown }) => [
        event,
        String(event).startsWith('job') ? job.state : shown.state,
      ]),
    )
    expect(states).toEqual({
      'build.scheduled': 'scheduled',
      'job.scheduled': 'scheduled',
      'build.running': 'running',
      'job.started': 'running',
      'job.finished': 'passed',
      'build.finished': 'passed',
    })
    const finished = received.find(({ event }) => String(event) === 'job.finished')
    expect(finished?.job).toMatchObject({ type: 'script', name: 'Turn', exit_status: 0 })
  })

  it('gets failing and blocked builds, and unblocked steps with the person', async () => {
    const { org, admin } = await anOrg()
    const events = ['build.failing', 'build.finished', 'job.activated', 'job.promised_exit_status']
    const service = await aService(org, admin, { settings: { events } })
    const pipeline = await aPipeline(app, org, 'steps: [{block: Go?, key: go}, {command: a}, {command: b}]')
    const build = await aBuild(app, org, pipeline, { creatorId: null })
    const jobId = await jobNamed(app, build, 'Go?')
    await applyEvent(app, build, { type: 'unblock', jobId, by: admin.id, answers: {} })
    const promising = await startJob(app, build, 'a')
    await applyEvent(app, build, { type: 'promise', jobId: promising, exitStatus: 9, reason: 'no disk' })
    await applyEvent(app, build, {
      type: 'finish',
      jobId: promising,
      exitStatus: 9,
      signal: null,
      signalReason: null,
    })
    await runJob(app, build, 'b')
    await eventually('all of it', async () => service.events().length >= 5)
    const received = service.events()
    expect(received.map(({ event }) => event)).toEqual([
      'build.finished',
      'job.activated',
      'build.failing',
      'job.promised_exit_status',
      'build.finished',
    ])
    expect(received[0]?.build).toMatchObject({ blocked: true, state: 'passed' })
    expect(received[1]).toMatchObject({ job: { type: 'manual' }, sender: { id: admin.id } })
    expect(received[3]).toMatchObject({
      promised_exit_status_reason: 'no disk',
      job: { promised_exit_status: 9 },
    })
    expect(received[2]?.build).toMatchObject({ state: 'failing', blocked: false })
    expect(received[4]?.build).toMatchObject({ state: 'failed' })
  })

  it('gets skipped builds', async () => {
    const { org, admin } = await anOrg()
    const service = await aService(org, admin, { settings: { events: ['build.skipped'] } })
    const pipeline = await aPipeline(app, org, 'steps: [{command: a}]', { skip_queued_branch_builds: true })
    const first = await aBuild(app, org, pipeline)
    await aBuild(app, org, pipeline)
    await eventually('one that was skipped', async () => service.events().length === 1)
    expect(service.events()[0]).toMatchObject({
      event: 'build.skipped',
      build: { id: first.id, state: 'skipped' },
    })
  })

  it('gets a signature with token_mode signature', async () => {
    const { org, admin } = await anOrg()
    const settings = { token_mode: 'signature', token: 's3cr3t-webhook-token' }
    const before = Math.floor(app.ctx.now().getTime() / 1000)
    const { receiver, id } = await aService(org, admin, { settings })
    await notifications.untilDelivered({ id })
    const [{ headers, raw } = { headers: {} as IncomingHttpHeaders, raw: Buffer.alloc(0) }] =
      receiver.received
    expect(headers).not.toHaveProperty('x-buildkite-token')
    const [timestamp = '', signature = ''] = String(headers['x-buildkite-signature']).split(',')
    expect([timestamp.split('=')[0], signature.split('=')[0]]).toEqual(['timestamp', 'signature'])
    const seconds = timestamp.split('=')[1] ?? ''
    const expected = createHmac('sha256', 's3cr3t-webhook-token').update(seconds).update('.').update(raw)
    expect(signature.split('=')[1]).toBe(expected.digest('hex'))
    expect(Number(seconds)).toBeGreaterThanOrEqual(before)
    expect(Number(seconds)).toBeLessThanOrEqual(app.ctx.now().getTime() / 1000)
  })

  it('gets its token in a header with token_mode token', async () => {
    const { org, admin } = await anOrg()
    const { receiver, id } = await aService(org, admin, { settings: { token: 'plain-token' } })
    await notifications.untilDelivered({ id })
    expect(receiver.received[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-buildkite-event': 'ping',
      'x-buildkite-token': 'plain-token',
      'x-millrace-delivery': expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    expect(receiver.received[0]?.headers).not.toHaveProperty('x-buildkite-signature')
  })

  it('of an older version gets the times and names of that version', async () => {
    const { org, admin } = await anOrg()
    const services = []
    for (const version of [1, 2, 3]) services.push(await aService(org, admin, { settings: { version } }))
    const pipeline = await aPipeline(app, org, 'steps: [{command: a}]')
    const at = '2026-01-02T03:04:05.678Z'
    const build = await aBuild(app, org, pipeline, { metaData: { released_at: at } })
    await runJob(app, build, 'a')
    const [first, second, third] = await Promise.all(
      services.map(async (service) => (await eventsUntilEnd(service, build))[0]),
    )
    const old = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/
    expect(third?.build.created_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/)
    expect(second?.build.created_at).toMatch(old)
    expect(second?.pipeline.created_at).toMatch(old)
    expect([second?.build.meta_data, third?.build.meta_data]).toEqual([
      { released_at: at },
      { released_at: at },
    ])
    expect([third, second].map((body) => 'project' in (body ?? {}))).toEqual([false, false])
    expect(first?.project).toEqual(first?.pipeline)
    expect(first?.build).toEqual(second?.build)
  })
})

describe('a chat', () => {
  const chat = { provider: 'chat' as const }
  const texts = ({ receiver }: TestService) => receiver.received.map(({ body }) => String(body.text))

  it('gets the states it chose, with a link and the failed jobs', async () => {
    const { org, admin } = await anOrg()
    const pipeline = await aPipeline(app, org, 'steps: [{command: a, label: "Unit <tests> | all"}]', {
      name: 'App',
    })
    const failed = { build_failed: true, build_fixed: true }
    const service = await aService(org, admin, { ...chat, build_states: failed })
    const pretty = await aService(org, admin, { ...chat, settings: { theme: 'emoji' }, build_states: failed })
    const run = async (exitStatus: number) => {
      const build = await aBuild(app, org, pipeline, {
        commit: '0123456789abcdef',
        message: '<!channel> & friends\n\nMore.',
      })
      await runJob(app, build, 'a', exitStatus)
      return build
    }
    await run(0)
    const broken = await run(1)
    await run(0)
    await run(0)
    await eventually('two messages', async () => texts(service).length === 2 && texts(pretty).length === 2)
    const page = `http://millrace.test/${org.slug}/${pipeline.slug}/builds`
    // Messages of two builds may arrive in any order.
    const [fixed, received] = texts(service).toSorted(
      (a, b) => Number(b.includes('fixed')) - Number(a.includes('fixed')),
    )
    expect(received).toContain(`<${page}/2|App #2> failed (main · 0123456789)`)
    expect(received).toContain('&lt;!channel&gt; &amp; friends')
    expect(received).not.toContain('More.')
    expect(received).toContain(
      `<${page}/2#${await jobNamed(app, broken, 'a')}|Unit &lt;tests&gt; ¦ all> failed with exit status 1`,
    )
    expect(fixed).toContain(`<${page}/3|App #3> is fixed`)
    expect(new Set(texts(pretty).map((text) => text.split(' ')[0]))).toEqual(new Set([':x:', ':tada:']))
    expect(service.receiver.received[0]?.headers).not.toHaveProperty('x-buildkite-token')
  })
})

describe('build_fixed', () => {
  it('compares with the branch, ignoring canceled builds, and with an earlier end of the same build', async () => {
    const { org, admin } = await anOrg()
    const service = await aService(org, admin, { provider: 'chat', build_states: { build_fixed: true } })
    const pipeline = await aPipeline(app, org, 'steps: [{command: a}]')
    const run = async (branch: string, exitStatus: number | null) => {
      const build = await aBuild(app, org, pipeline, { branch })
      if (exitStatus === null) await applyEvent(app, build, { type: 'cancel_build', reason: null })
      else await runJob(app, build, 'a', exitStatus)
      return build
    }
    await run('main', 1)
    await run('other', 0)
    await run('main', null)
    await run('main', 0)
    await run('main', 0)
    const retried = await run('main', 1)
    await applyEvent(app, retried, {
      type: 'retry',
      jobId: await jobNamed(app, retried, 'a'),
      parentCanceled: false,
    })
    await runJob(app, retried, 'a')
    await eventually('two that were fixed', async () => service.receiver.received.length >= 2)
    await notifications.untilDelivered(service)
    const received = service.receiver.received.map(({ body }) => /#(\d+)>/.exec(String(body.text))?.[1])
    expect(new Set(received)).toEqual(new Set(['4', '6']))
    expect(received).toHaveLength(2)
  })
})

describe('the recipients of an event', () => {
  it('depend on scope, branch filter and enabled', async () => {
    const { org, admin } = await anOrg()
    const cluster = await aCluster(app, org, admin)
    const team = await aTeam(app, org, admin)
    await inTeam(app, team, admin, admin)
    const [ours, other] = [
      await aPipeline(app, org, 'steps: [{command: a}]', { cluster_id: cluster.id }),
      await aPipeline(app, org, 'steps: [{command: a}]', {
        cluster_id: (await aCluster(app, org, admin)).id,
      }),
    ]
    await app.request('POST', `${team.path}/pipelines`, {
      token: admin.token,
      body: { pipeline_id: ours.id, access_level: 'read_only' },
    })
    const one = (given: Record<string, unknown>) => aService(org, admin, given)
    const services = {
      all: await one({}),
      pipeline: await one({ scope: 'some_projects', scope_uuids: [ours.id] }),
      team: await one({ scope: 'some_teams', scope_uuids: [team.id] }),
      cluster: await one({ scope: 'some_clusters', scope_uuids: [cluster.id] }),
      branch: await one({ branch_configuration: 'release/* !release/old' }),
      disabled: await one({}),
    }
    await app.request('PUT', `${services.disabled.path}/disable`, { token: admin.token })
    const run = async (pipeline: { id: string }, branch: string) => {
      const build = await aBuild(app, org, pipeline, { branch })
      await runJob(app, build, 'a')
      return build.id
    }
    const [main, elsewhere] = [await run(ours, 'main'), await run(other, 'main')]
    const [release, old] = [await run(other, 'release/1'), await run(other, 'release/old')]
    await eventually('all four', async () => services.all.events().length === 4)
    for (const service of Object.values(services)) await notifications.untilDelivered(service)
    const received = Object.fromEntries(
      Object.entries(services).map(([name, service]) => [
        name,
        service
          .events()
          .map(({ build }) => String(build.id))
          .sort(),
      ]),
    )
    expect(received).toEqual({
      all: [main, elsewhere, release, old].sort(),
      pipeline: [main],
      team: [main],
      cluster: [main],
      branch: [release],
      disabled: [],
    })
  })

  it('do not include another organization', async () => {
    const [ours, theirs] = [await anOrg(), await anOrg()]
    const service = await aService(ours.org, ours.admin)
    const other = await aService(theirs.org, theirs.admin)
    const pipeline = await aPipeline(app, theirs.org, 'steps: [{command: a}]')
    await runJob(app, await aBuild(app, theirs.org, pipeline), 'a')
    await eventually('the other organization has got it', async () => other.events().length === 1)
    await notifications.untilDelivered(service)
    expect(service.events()).toEqual([])
  })
})
