import { sql } from 'kysely'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../../../test/app.ts'
import { aPipeline, type TestOrganization } from '../../../test/builders.ts'
import { aConnectedService } from '../../../test/connected-service.ts'
import { aMailServer } from '../../../test/remote-hosts/mail-server.ts'
import { anOAuthSite } from '../../../test/remote-hosts/oauth-site.ts'
import { aReceiver, type Receiver } from '../../../test/remote-hosts/receiver.ts'
import { aBuild, runJob, applyEvent } from '../../../test/runs.ts'
import { useNotifications } from '../../../test/notifications.ts'

const smtp = await aMailServer({ user: 'builds', password: 'secret' })
const site = await anOAuthSite()
const pager = await aReceiver((response) => {
  response.statusCode = 202
  response.end('{}')
})
const notifications = useNotifications({
  MILLRACE_SMTP_URL: smtp.url,
  MILLRACE_MAIL_FROM: 'Builds <ci@example.com>',
  MILLRACE_PAGER_URL: new URL(pager.url).origin,
  ...site.env,
})
const { app, anOrg } = notifications

const receivers: Receiver[] = []
beforeEach(() => {
  smtp.mails.length = 0
  smtp.refusing = null
  site.posts.length = 0
  pager.received.length = 0
})
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close()
})
afterAll(async () => {
  await Promise.all([smtp.close(), site.close(), pager.close()])
})

const mailsTo = (address: string) => smtp.mails.filter(({ to }) => to.includes(address))

/** The deliveries without a service, oldest first. */
const deliveries = (orgId: string) =>
  app.db
    .selectFrom('notification_deliveries')
    .leftJoin('notification_attempts as a', 'a.delivery_id', 'notification_deliveries.id')
    .select(['notification_deliveries.state', 'attempts', 'a.error', 'owner_id as id'])
    .where('notification_deliveries.organization_id', '=', orgId)
    .where('service_id', 'is', null)
    .orderBy('seq')
    .execute()

describe('`notify` of a pipeline', () => {
  it('mails the address when a build is failing and when it has ended', async () => {
    const { org, admin } = await anOrg()
    const pipeline = await aPipeline(
      app,
      org,
      '{notify: [{email: dev@example.com}], steps: [{command: turn, label: "<b>Turn"}, {command: other}]}',
    )
    const build = await aBuild(app, org, pipeline, {
      creatorId: admin.id,
      message: 'Fix\r\nBcc: all@example.com',
    })
    await runJob(app, build, 'turn', 4)
    await runJob(app, build, 'other')
    await eventually('two mails', async () => mailsTo('dev@example.com').length === 2)
    const [failing, failed] = mailsTo('dev@example.com')
    const head = failed?.source.split('\r\n\r\n')[0] ?? ''
    expect(failing?.source).toContain(`Subject: ${pipeline.slug} #${build.number} is failing (main)`)
    expect(head).toContain(`Subject: ${pipeline.slug} #${build.number} failed (main)`)
    expect(head).toMatch(/^From: Builds <ci@example\.com>\r$/m)
    expect(head).toMatch(/^Auto-Submitted: auto-generated\r$/m)
    expect(head).not.toMatch(/^Bcc:/m)
    expect(failed?.to).toEqual(['dev@example.com'])
    expect(failed?.source).toContain('exit status 4')
    expect(failed?.source).toContain('&lt;b&gt;Turn')
  })

  it('evaluates the condition of each entry with the state of the build at the event', async () => {
    const { org } = await anOrg()
    const pipeline = await aPipeline(
      app,
      org,
      [
        'notify:',
        '  - {email: passed@example.com, if: build.state == "passed"}',
        '  - {email: failed@example.com, if: build.state == "failed"}',
        '  - {email: broke@example.com, if: pipeline.started_failing}',
        '  - {email: fixed@example.com, if: build.fixed}',
        '  - {email: never@example.com, if: nope}',
        '  - {email: end@example.com}',
        'steps: [{command: turn}]',
      ].join('\n'),
    )
    for (const exitStatus of [0, 1, 1, 0]) {
      await runJob(app, await aBuild(app, org, pipeline), 'turn', exitStatus)
    }
    await eventually('the last', async () => mailsTo('fixed@example.com').length === 1)
    await eventually('everything', async () =>
      (await deliveries(org.id)).every(({ state }) => state === 'delivered'),
    )
    const counts = ['passed', 'failed', 'broke', 'fixed', 'never'].map(
      (name) => mailsTo(`${name}@example.com`).length,
    )
    expect(counts).toEqual([2, 2, 1, 1, 0])
    expect(mailsTo('end@example.com').length).toBeGreaterThanOrEqual(4)
  })

  it('posts to a webhook as a service of the latest version does, without a token', async () => {
    const { org, admin } = await anOrg()
    const receiver = await aReceiver()
    receivers.push(receiver)
    const pipeline = await aPipeline(
      app,
      org,
      `{notify: [{webhook: "${receiver.url}"}], steps: [{command: turn}, {block: Go}]}`,
    )
    const build = await aBuild(app, org, pipeline, { creatorId: admin.id, env: { SECRET: 'x' } })
    await runJob(app, build, 'turn')
    await eventually('three requests', async () => receiver.received.length === 3)
    expect(receiver.received.map(({ headers }) => headers['x-buildkite-event'])).toEqual([
      'build.scheduled',
      'build.running',
      'build.finished',
    ])
    const last = receiver.received.at(-1)
    expect(last?.headers).not.toHaveProperty('x-buildkite-token')
    expect(last?.headers).not.toHaveProperty('x-buildkite-signature')
    expect(last?.body).toMatchObject({
      event: 'build.finished',
      build: { id: build.id, blocked: true },
      pipeline: { id: pipeline.id },
      sender: { id: admin.id },
    })
    expect(last?.raw.toString()).not.toContain('SECRET')
  })

  it('mails, posts and tells a pager when a group is failing and when it has ended', async () => {
    const { org } = await anOrg()
    const receiver = await aReceiver()
    receivers.push(receiver)
    const pipeline = await aPipeline(
      app,
      org,
      [
        'steps:',
        '  - group: All <tests>',
        '    key: all',
        '    notify:',
        '      - email: dev@example.com',
        '      - {email: calm@example.com, if: step.outcome == "passed"}',
        `      - webhook: ${receiver.url}`,
        '      - pagerduty_change_event: R0UTE',
        '    steps: [{command: one}, {command: two}]',
        '  - {command: three}',
      ].join('\n'),
      { name: 'App' },
    )
    const build = await aBuild(app, org, pipeline)
    await runJob(app, build, 'one', 1)
    await runJob(app, build, 'two')
    await runJob(app, build, 'three')
    await eventually('five deliveries', async () => {
      const all = await deliveries(org.id)
      return all.length === 5 && all.every(({ state }) => state === 'delivered')
    })
    expect(mailsTo('dev@example.com').map(({ source }) => /^Subject: (.*)\r$/m.exec(source)?.[1])).toEqual([
      'All <tests> of App #1 is failing (main)',
      'All <tests> of App #1 failed (main)',
    ])
    expect(mailsTo('calm@example.com')).toEqual([])
    expect(receiver.received.map(({ headers, body }) => [headers['x-buildkite-event'], body])).toEqual([
      [
        'step.failing',
        expect.objectContaining({ step: expect.objectContaining({ key: 'all', state: 'failing' }) }),
      ],
      [
        'step.finished',
        expect.objectContaining({
          event: 'step.finished',
          build: expect.objectContaining({ id: build.id }),
          step: expect.objectContaining({ label: 'All <tests>', outcome: 'hard_failed' }),
        }),
      ],
    ])
    expect(pager.received.map(({ body }) => body.payload.summary)).toEqual([
      'All <tests> of App #1 (main) failed',
    ])
  })

  it('tells only webhooks of a work tree that is not committed', async () => {
    const { org } = await anOrg()
    const receiver = await aReceiver()
    receivers.push(receiver)
    const notify = `[{email: preflight@example.com}, {webhook: "${receiver.url}"}]`
    const pipeline = await aPipeline(app, org, `{notify: ${notify}, steps: [{command: turn}]}`)
    const preflight = await aBuild(app, org, pipeline, { env: { BUILDKITE_PREFLIGHT: 'true' } })
    await runJob(app, preflight, 'turn', 1)
    const committed = await aBuild(app, org, pipeline)
    await runJob(app, committed, 'turn', 1)
    const ends = () =>
      receiver.received.filter(({ headers }) => headers['x-buildkite-event'] === 'build.finished')
    await eventually('both ends', async () => ends().length === 2)
    const { rows } = await sql<{ number: number; kinds: string[] }>`
      select (m.data -> 'build' ->> 'number')::int as number, array_agg(distinct d.target ->> 'kind') as kinds
      from notification_deliveries d join notification_messages m on m.id = d.message_id
      where d.organization_id = ${org.id} group by 1 order by 1`.execute(app.db)
    expect(rows).toEqual([
      { number: 1, kinds: ['webhook'] },
      { number: 2, kinds: ['email', 'webhook'] },
    ])
  })

  it('retries a mail that the server deferred, and gives up one that it rejected', async () => {
    const { org } = await anOrg()
    smtp.refusing = (to, n) => {
      if (to === 'nobody@example.com') return { code: 550, message: 'No such user' }
      return n < 2 ? { code: 451, message: 'Try later' } : null
    }
    const pipeline = await aPipeline(
      app,
      org,
      '{notify: [{email: nobody@example.com}, {email: late@example.com}, {email: "a@x, b@x"}], steps: [{command: turn}]}',
    )
    await runJob(app, await aBuild(app, org, pipeline), 'turn')
    await eventually('three deliveries', async () => (await deliveries(org.id)).length >= 3)
    const late = (await deliveries(org.id))[1]
    await notifications.passUntil(
      { id: late?.id ?? '' },
      'the mail',
      () => mailsTo('late@example.com').length === 1,
    )
    const ends = await eventually('the ends', async () => {
      const all = await deliveries(org.id)
      return all.every(({ state }) => state !== 'pending') && all
    })
    expect(ends.find(({ error }) => error?.includes('No such user'))?.state).toBe('dead')
    expect(ends.find(({ error }) => error?.includes('not one address'))?.state).toBe('dead')
    expect(mailsTo('late@example.com')).toHaveLength(1)
    expect(mailsTo('nobody@example.com')).toHaveLength(0)
  })
})

const aWorkspace = (org: TestOrganization, name: string) => {
  const token = `access-${name}`
  site.tokens.add(token)
  const settings = { workspace_id: name, workspace_name: name, channel: '#builds', access_token: token }
  return aConnectedService(app, org, 'chat_workspace', settings)
}

const ended = (orgId: string, count: number) =>
  eventually(`${count} deliveries`, async () => {
    const all = await deliveries(orgId)
    return all.length >= count && all.every(({ state }) => state !== 'pending') && all
  })

/** Without links and sorted, since channels are different recipients. */
const posts = () =>
  site.posts
    .map(({ channel, text }) => [channel, text.split('\n')[0]?.replace(/<[^|]*\||>/g, '')])
    .toSorted((a, b) => (a.join(' ') < b.join(' ') ? -1 : 1))

describe('`notify: slack`', () => {
  it('writes to each channel when a build is failing and when it has ended, as the conditions say', async () => {
    const { org } = await anOrg()
    await aWorkspace(org, 'Acme')
    const pipeline = await aPipeline(
      app,
      org,
      [
        'notify:',
        '  - slack: "#builds"',
        '  - slack: {channels: ["#alerts", C123], message: "Look <!channel>"}',
        '    if: build.state == "failed"',
        'steps: [{command: turn}, {command: other}]',
      ].join('\n'),
      { name: 'App' },
    )
    const build = await aBuild(app, org, pipeline)
    await runJob(app, build, 'turn', 1)
    await runJob(app, build, 'other')
    expect((await ended(org.id, 4)).map(({ state }) => state)).toEqual(Array(4).fill('delivered'))
    expect(posts()).toEqual([
      ['#alerts', ':x: App #1 failed (main · HEAD)'],
      ['#builds', ':warning: App #1 is failing (main · HEAD)'],
      ['#builds', ':x: App #1 failed (main · HEAD)'],
      ['C123', ':x: App #1 failed (main · HEAD)'],
    ])
    const alert = site.posts.find(({ channel }) => channel === '#alerts')
    expect(alert?.text).toMatch(/\nLook &lt;!channel&gt;$/)
  })

  it('goes to the named workspace, and never to one of another organization', async () => {
    const { org } = await anOrg()
    const other = await anOrg()
    await aWorkspace(other.org, 'Foreign')
    await aWorkspace(org, 'First')
    const second = await aWorkspace(org, 'Second')
    site.tokens.delete('access-Second')
    const configuration = [
      'notify: [{slack: "second#alerts"}, {slack: "#builds"}, {slack: "foreign#builds"}]',
      'steps: [{command: turn}]',
    ].join('\n')
    await runJob(app, await aBuild(app, org, await aPipeline(app, org, configuration)), 'turn')
    const errors = (await ended(org.id, 3)).map(({ error }) => error)
    expect(errors[0]).toMatch(/refuses the access token/)
    expect(errors[1]).toBeNull()
    expect(errors[2]).toMatch(/^No chat workspace named foreign is connected to the organization/)
    expect(posts()).toHaveLength(1)
    expect(second).toBeTruthy()
  })

  it('without a workspace is given up, and says why', async () => {
    const { org } = await anOrg()
    const pipeline = await aPipeline(app, org, '{notify: [{slack: "#builds"}], steps: [{command: turn}]}')
    await runJob(app, await aBuild(app, org, pipeline), 'turn')
    expect(await ended(org.id, 1)).toMatchObject([
      { state: 'dead', attempts: 1, error: expect.stringMatching(/^No chat workspace is connected/) },
    ])
  })

  it('of a step publishes only that step, when its condition holds', async () => {
    const { org } = await anOrg()
    await aWorkspace(org, 'Acme')
    const receiver = await aReceiver()
    receivers.push(receiver)
    const pipeline = await aPipeline(
      app,
      org,
      [
        'steps:',
        '  - {command: one, label: One, notify: [{slack: "#builds"}]}',
        '  - command: two',
        '    key: two',
        '    notify:',
        '      - {slack: "#alerts", if: step.outcome == "hard_failed"}',
        '      - {slack: C123, if: step.outcome == "passed"}',
        `      - basecamp_campfire: ${receiver.url}`,
        '  - {group: All, notify: [{slack: "#builds"}], steps: [{command: three}]}',
        '  - {command: four}',
      ].join('\n'),
      { name: 'App' },
    )
    const build = await aBuild(app, org, pipeline)
    for (const [name, exitStatus] of [
      ['one', 0],
      ['two', 1],
      ['three', 0],
      ['four', 0],
    ] as const) {
      await runJob(app, build, name, exitStatus)
    }
    expect((await ended(org.id, 4)).map(({ state }) => state)).toEqual(Array(4).fill('delivered'))
    expect(posts()).toEqual([
      ['#alerts', ':x: two of App #1 failed (main · HEAD)'],
      ['#builds', ':white_check_mark: All of App #1 passed (main · HEAD)'],
      ['#builds', ':white_check_mark: One of App #1 passed (main · HEAD)'],
    ])
    expect(receiver.received.map(({ body }) => body)).toEqual([
      {
        content: expect.stringMatching(
          /^<a href="[^"]+\/builds\/1">two of App #1<\/a> failed \(main · HEAD\)$/,
        ),
      },
    ])
  })
})

describe('`notify` to campfires and pagers', () => {
  it('posts the whole course of a build to a Campfire room, and the record hides the address', async () => {
    const { org } = await anOrg()
    const receiver = await aReceiver()
    receivers.push(receiver)
    const pipeline = await aPipeline(
      app,
      org,
      `{notify: [{basecamp_campfire: "${receiver.url}"}], steps: [{command: turn}, {block: Go}, {command: "<i>"}]}`,
      { name: 'A & B' },
    )
    const build = await aBuild(app, org, pipeline, { branch: 'x<y' })
    await runJob(app, build, 'turn')
    await applyEvent(app, build, { type: 'cancel_build', reason: null })
    await ended(org.id, 4)
    const lines = receiver.received.map(({ body }) => String(body.content).replace(/<a [^>]*>|<\/a>/g, ''))
    expect(lines).toEqual(
      ['was created', 'is running', 'waits to be unblocked', 'was canceled'].map(
        (says) => `A &#38; B #1 ${says} (x&#60;y · HEAD)`,
      ),
    )
    const { rows } = await sql<{ exchanges: string }>`
      select exchanges::text from notification_attempts where organization_id = ${org.id}`.execute(app.db)
    expect(JSON.stringify(rows)).not.toContain(receiver.url)
  })

  it('sends PagerDuty one change event when the build has ended', async () => {
    const { org } = await anOrg()
    const configuration = '{notify: [{pagerduty_change_event: R0UTE}], steps: [{command: turn}]}'
    const pipeline = await aPipeline(app, org, configuration, { name: 'App' })
    await runJob(app, await aBuild(app, org, pipeline), 'turn', 3)
    expect(await ended(org.id, 1)).toMatchObject([{ state: 'delivered' }])
    expect(pager.received.map(({ path, body }) => [path, body])).toEqual([
      [
        '/v2/change/enqueue',
        {
          routing_key: 'R0UTE',
          payload: {
            summary: 'App #1 (main) failed',
            source: pipeline.slug,
            timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
            custom_details: expect.objectContaining({ state: 'failed', number: 1, pipeline: pipeline.slug }),
          },
          links: [{ href: expect.stringMatching(/\/builds\/1$/), text: 'App #1' }],
        },
      ],
    ])
  })
})
