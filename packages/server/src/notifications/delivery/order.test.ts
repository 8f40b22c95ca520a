import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../../../test/app.ts'
import { aPipeline, type TestOrganization } from '../../../test/builders.ts'
import { aConnectedService } from '../../../test/connected-service.ts'
import { anOAuthSite } from '../../../test/remote-hosts/oauth-site.ts'
import { aReceiver, type Received, type Receiver } from '../../../test/remote-hosts/receiver.ts'
import { aBuild, applyEvent, jobNamed, runJob } from '../../../test/runs.ts'
import { useNotifications } from '../../../test/notifications.ts'

const site = await anOAuthSite()
const notifications = useNotifications(site.env)
const { app, anOrg, aService, passUntil } = notifications
afterAll(() => site.close())

let receivers: Receiver[]
beforeEach(() => {
  receivers = []
  site.posts.length = 0
  site.answering = null
})
afterEach(async () => {
  for (const receiver of receivers) await receiver.close()
})

const chatStates = { build_states: { build_failed: true, build_fixed: true } }

async function failAndFix(org: TestOrganization, notify = '', branches = ['main', 'main']) {
  const pipeline = await aPipeline(app, org, `${notify}\nsteps: [{command: a}]`)
  const [failing = '', fixing = ''] = branches
  const failed = await aBuild(app, org, pipeline, { branch: failing })
  await runJob(app, failed, 'a', 1)
  const fixed = await aBuild(app, org, pipeline, { branch: fixing })
  await runJob(app, fixed, 'a')
  return { pipeline, failed, fixed }
}

/** Another service has got the end of the second build, so the tested one could have got it too. */
const toldElsewhere = (service: { events(): unknown[] }) =>
  eventually('another service has got both', async () => service.events().length >= 2)

/** Rejects the first request and accepts the others. */
const refuseFirst = (receiver: Receiver) => {
  receiver.answering = (response, _, n) => {
    response.statusCode = n === 0 ? 500 : 200
    response.end()
  }
}

const saidIn = ({ body }: Received) => /(failed|passed|fixed)/i.exec(String(body.text ?? body.content))?.[1]
const saidTo = (receiver: Receiver) => receiver.received.map(saidIn)

describe('messages to a chat about two builds of one branch', () => {
  it('arrive in order, although the first one is rejected once', async () => {
    const { org, admin } = await anOrg()
    const chat = await aService(org, admin, { provider: 'chat', ...chatStates })
    const other = await aService(org, admin, { settings: { events: ['build.finished'] } })
    refuseFirst(chat.receiver)
    await failAndFix(org)
    await toldElsewhere(other)
    await passUntil(chat, 'all of it', () => chat.receiver.received.length >= 3)
    await notifications.untilDelivered(chat)
    expect(saidTo(chat.receiver)).toEqual(['failed', 'failed', 'fixed'])
  })

  it('say that a build is fixed which passes when it is retried, although the events of its end are deleted', async () => {
    const { org, admin } = await anOrg()
    const chat = await aService(org, admin, { provider: 'chat', ...chatStates })
    const build = await aBuild(app, org, await aPipeline(app, org, 'steps: [{command: a}]'))
    await runJob(app, build, 'a', 1)
    await eventually('the failure', async () => chat.receiver.received.length === 1)
    await app.db.deleteFrom('events').where('build_id', '=', build.id).execute()
    const jobId = await jobNamed(app, build, 'a')
    await applyEvent(app, build, { type: 'retry', jobId, parentCanceled: false })
    await runJob(app, build, 'a')
    await eventually('the second message', async () => chat.receiver.received.length === 2)
    expect(saidTo(chat.receiver)).toEqual(['failed', 'fixed'])
  })

  it('arrive in order, although the first response is late', async () => {
    const { org, admin } = await anOrg()
    notifications.waitForAnswers()
    const chat = await aService(org, admin, { provider: 'chat', ...chatStates })
    const other = await aService(org, admin, { settings: { events: ['build.finished'] } })
    let release = () => {}
    chat.receiver.answering = (response, _, n) => {
      if (n === 0) release = () => response.end()
      else response.end()
    }
    await failAndFix(org)
    await toldElsewhere(other)
    await eventually('the first message', async () => chat.receiver.received.length >= 1)
    expect(saidTo(chat.receiver)).toEqual(['failed'])
    release()
    await notifications.untilDelivered(chat)
    expect(saidTo(chat.receiver)).toEqual(['failed', 'fixed'])
  })

  it('continue after a message that the chat rejects for good', async () => {
    const { org, admin } = await anOrg()
    const chat = await aService(org, admin, { provider: 'chat', ...chatStates })
    chat.receiver.answering = (response, _, n) => {
      response.statusCode = n === 0 ? 400 : 200
      response.end()
    }
    await failAndFix(org)
    await eventually('both have arrived', async () => chat.receiver.received.length === 2)
    expect(saidTo(chat.receiver)).toEqual(['failed', 'fixed'])
  })

  it('do not wait for another branch', async () => {
    const { org, admin } = await anOrg()
    const states = { build_states: { build_failed: true, build_passed: true } }
    const chat = await aService(org, admin, { provider: 'chat', ...states })
    chat.receiver.answering = (response, received) => {
      response.statusCode = saidIn(received) === 'failed' ? 500 : 200
      response.end()
    }
    await failAndFix(org, '', ['main', 'feature'])
    const said = () => new Set(saidTo(chat.receiver))
    await eventually('both branches', async () => said().size >= 2)
    expect(said()).toEqual(new Set(['failed', 'passed']))
  })

  it('arrive in order in a connected workspace', async () => {
    const { org, admin } = await anOrg()
    site.tokens.add('access-first')
    const settings = {
      workspace_id: 'T',
      workspace_name: 'T',
      channel: '#builds',
      access_token: 'access-first',
    }
    const id = await aConnectedService(app, org, 'chat_workspace', settings, ['build_failed', 'build_fixed'])
    const other = await aService(org, admin, { settings: { events: ['build.finished'] } })
    let isFirst = true
    site.answering = (_, response) => {
      const wasFirst = isFirst
      isFirst = false
      if (wasFirst) response.writeHead(500).end()
      return wasFirst
    }
    await failAndFix(org)
    await toldElsewhere(other)
    await passUntil({ id }, 'all of it', () => site.posts.length >= 2)
    expect(site.posts.map(({ text }) => /failed|fixed/.exec(text)?.[0])).toEqual(['failed', 'fixed'])
  })

  it('arrive in order for `notify`, and are listed with their build', async () => {
    const { org, admin } = await anOrg()
    const other = await aService(org, admin, { settings: { events: ['build.finished'] } })
    const receiver = await aReceiver()
    receivers.push(receiver)
    receiver.answering = (response, { body }) => {
      const isRefused = String(body.content).includes('failed') && !isSeen
      isSeen ||= isRefused
      response.statusCode = isRefused ? 500 : 200
      response.end()
    }
    let isSeen = false
    const notify = `notify: [{basecamp_campfire: "${receiver.url}", if: build.state == "failed" || build.state == "passed"}]`
    const { pipeline, failed, fixed } = await failAndFix(org, notify)
    await toldElsewhere(other)
    const { owner_id: id } = await app.db
      .selectFrom('notification_deliveries')
      .select('owner_id')
      .where('organization_id', '=', org.id)
      .where('target', 'is not', null)
      .executeTakeFirstOrThrow()
    await passUntil({ id }, 'all of it', () => receiver.received.length >= 3)
    expect(saidTo(receiver)).toEqual(['failed', 'failed', 'fixed'])
    for (const { number } of [failed, fixed]) {
      const path = `${pipeline.path}/builds/${number}/deliveries`
      expect((await app.request('GET', path, { token: admin.token })).list).toHaveLength(1)
    }
  })

  it('delay no other chat while one hangs', async () => {
    const { org, admin } = await anOrg()
    notifications.waitForAnswers()
    const dead = await aService(org, admin, { provider: 'chat', ...chatStates })
    const alive = await aService(org, admin, { provider: 'chat', ...chatStates })
    dead.receiver.answering = () => {}
    for (const _ of [1, 2, 3]) await failAndFix(org)
    await eventually('the other one has got all', async () => alive.receiver.received.length === 6)
    expect(dead.receiver.received.length).toBeLessThanOrEqual(3)
  })
})

describe('events to a webhook about two builds of one branch', () => {
  it('arrive in order for each build, and one build does not wait for another', async () => {
    const { org, admin } = await anOrg()
    const hook = await aService(org, admin, { settings: { events: ['build.finished'] } })
    await notifications.untilDelivered(hook)
    hook.receiver.answering = (response, { body }) => {
      response.statusCode = Number(body.build?.number) === 1 ? 500 : 200
      response.end()
    }
    await failAndFix(org)
    const numbers = () => new Set(hook.events().map(({ build }) => Number(build?.number)))
    await eventually('both builds', async () => numbers().size >= 2)
    expect(numbers()).toEqual(new Set([1, 2]))
  })
})
