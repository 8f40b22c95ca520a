import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../../test/app.ts'
import { aPipeline } from '../../test/builders.ts'
import { aMailServer } from '../../test/mail-server.ts'
import { aReceiver, type Receiver } from '../../test/receiver.ts'
import { aBuild, runJob } from '../../test/runs.ts'
import { useTelling } from '../../test/telling.ts'

const smtp = await aMailServer({ user: 'builds', password: 'secret' })
const telling = useTelling({ MILLRACE_SMTP_URL: smtp.url, MILLRACE_MAIL_FROM: 'Builds <ci@example.com>' })
const { app, anOrg } = telling

const receivers: Receiver[] = []
beforeEach(() => {
  smtp.mails.length = 0
  smtp.refusing = null
})
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close()
})
afterAll(() => smtp.close())

const mailsTo = (address: string) => smtp.mails.filter(({ to }) => to.includes(address))

/** What became of deliveries that no service asked for, oldest first. */
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
    await eventually('two mails', async () => mailsTo('dev@example.com').length === 2, 60_000)
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

  it('goes by the condition of each entry, with the state that the build has come to', async () => {
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
    await eventually('the last', async () => mailsTo('fixed@example.com').length === 1, 60_000)
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
    await eventually('three requests', async () => receiver.received.length === 3, 60_000)
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

  it('tries a mail again that the server could not take yet, and gives up one that it never will', async () => {
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
    await eventually('three deliveries', async () => (await deliveries(org.id)).length >= 3, 60_000)
    const late = (await deliveries(org.id))[1]
    await telling.passUntil(
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
