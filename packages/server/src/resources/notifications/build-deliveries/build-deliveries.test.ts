import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { baseUrl, eventually } from '../../../../test/app.ts'
import {
  aMember,
  aPipeline,
  aToken,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { aMailServer } from '../../../../test/remote-hosts/mail-server.ts'
import { aReceiver } from '../../../../test/remote-hosts/receiver.ts'
import { aBuild, runJob } from '../../../../test/runs.ts'
import { useNotifications } from '../../../../test/notifications.ts'

const smtp = await aMailServer({ user: 'builds', password: 'secret' })
const receiver = await aReceiver()
const { app, anOrg } = useNotifications({ MILLRACE_SMTP_URL: smtp.url, MILLRACE_MAIL_FROM: 'ci@example.com' })

let org: TestOrganization
let admin: TestUser
beforeEach(async () => {
  ;({ org, admin } = await anOrg())
  smtp.mails.length = 0
  smtp.refusing = null
  receiver.received.length = 0
  receiver.answering = null
})
afterAll(() => Promise.all([smtp.close(), receiver.close()]))

/** The path of the deliveries of a build that has passed. */
async function aToldBuild(notify: string): Promise<string> {
  const pipeline = await aPipeline(app, org, `{notify: [${notify}], steps: [{command: a}]}`)
  const build = await aBuild(app, org, pipeline)
  await runJob(app, build, 'a')
  return `${pipeline.path}/builds/${build.number}/deliveries`
}

const get = (path: string, token = admin.token) => app.request('GET', path, { token })

const untilDelivered = (path: string, count: number) =>
  eventually('none is pending', async () => {
    const { list } = await get(path)
    return list.length === count && list.every(({ state }) => String(state) !== 'pending') && list
  })

describe('GET /v2/organizations/{org.slug}/pipelines/{slug}/builds/{number}/deliveries', () => {
  it('lists the deliveries of notify, oldest first, with the errors', async () => {
    smtp.refusing = () => ({ code: 550, message: 'No such user here' })
    const path = await aToldBuild('{email: dev@example.com}')
    const [mail] = await untilDelivered(path, 1)
    expect(mail).toEqual({
      id: expect.any(String),
      url: `${baseUrl}${path}/${mail?.id}`,
      build_url: `${baseUrl}${path.replace('/deliveries', '')}`,
      kind: 'email',
      to: 'dev@example.com',
      event: 'build.finished',
      state: 'dead',
      attempts_count: 1,
      error: expect.stringContaining('No such user here'),
      next_attempt_at: null,
      occurred_at: expect.any(String),
      created_at: expect.any(String),
      finished_at: expect.any(String),
    })
  })

  it('takes a state, and pages', async () => {
    const path = await aToldBuild(`{webhook: "${receiver.url}"}`)
    const all = await untilDelivered(path, 3)
    expect(all.map(({ event }) => String(event))).toEqual([
      'build.scheduled',
      'build.running',
      'build.finished',
    ])
    expect((await get(`${path}?state=dead`)).list).toEqual([])
    expect((await get(`${path}?state=delivered&per_page=1&page=2`)).list).toEqual(all.slice(1, 2))
    expect((await get(`${path}?state=lost`)).status).toBe(400)
  })

  it('masks possible secrets', async () => {
    const url = `${receiver.url}/services/T0/very-secret-part`
    const path = await aToldBuild(
      `{webhook: "${url}"}, {slack: "ours#builds"}, {pagerduty_change_event: "0123456789abcdef0123456789abcdef"}`,
    )
    const list = await eventually('all are there', async () => {
      const answer = await get(path)
      return answer.list.length === 5 && answer
    })
    expect(list.text).not.toContain('very-secret')
    expect(list.text).not.toContain('0123456789abcdef')
    const shown = new Map(list.list.map(({ kind, to }) => [String(kind), String(to)]))
    expect(shown.get('webhook')).toMatch(new RegExp(`^${new URL(url).origin}/X+part$`))
    expect(shown.get('slack')).toBe('ours#builds')
    expect(shown.get('pagerduty_change_event')).toMatch(/^X{28}cdef$/)
  })
})

describe('GET /v2/organizations/{org.slug}/pipelines/{slug}/builds/{number}/deliveries/{id}', () => {
  it('shows every attempt, without the responses', async () => {
    receiver.answering = (response) => response.writeHead(410).end('internal matters')
    const path = await aToldBuild(`{webhook: "${receiver.url}", if: build.state == "passed"}`)
    const [one] = await untilDelivered(path, 1)
    const got = await get(`${path}/${one?.id}`)
    expect(got.body.attempts).toEqual([
      {
        number: 1,
        started_at: expect.any(String),
        duration_ms: expect.any(Number),
        status: 410,
        error: 'The receiver answered 410: it is gone.',
      },
    ])
    expect(got.text).not.toContain('internal matters')
  })

  it('answers 404 for a delivery of another build, and for one of a service', async () => {
    const [path, other] = [
      await aToldBuild(`{webhook: "${receiver.url}"}`),
      await aToldBuild(`{webhook: "${receiver.url}"}`),
    ]
    const [foreign] = await untilDelivered(other, 3)
    const service = await app.request('POST', `${org.path}/services`, {
      token: admin.token,
      body: { provider: 'webhook', settings: { url: receiver.url } },
    })
    const pings = await get(`${org.path}/services/${service.body.id}/deliveries`)
    for (const id of [foreign?.id, pings.list[0]?.id, 'x']) {
      const answer = await get(`${path}/${id}`)
      expect([answer.status, answer.body]).toEqual([404, { message: 'No delivery found' }])
    }
  })
})

describe('POST /v2/organizations/{org.slug}/pipelines/{slug}/builds/{number}/deliveries/{id}/redeliver', () => {
  it('resends a mail that was given up', async () => {
    smtp.refusing = () => ({ code: 550, message: 'No such user here' })
    const path = await aToldBuild('{email: dev@example.com}')
    const [mail] = await untilDelivered(path, 1)
    smtp.refusing = null
    const answer = await app.request('POST', `${path}/${mail?.id}/redeliver`, { token: admin.token })
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { id: mail?.id, state: 'pending', finished_at: null, next_attempt_at: expect.any(String) },
    ])
    expect(await untilDelivered(path, 1)).toMatchObject([
      { state: 'delivered', attempts_count: 2, error: null },
    ])
    expect(smtp.mails.map(({ to }) => to)).toEqual([['dev@example.com']])
  })

  it('sends the same bytes under the same id', async () => {
    const path = await aToldBuild(`{webhook: "${receiver.url}", if: build.state == "passed"}`)
    const [one] = await untilDelivered(path, 1)
    await app.request('POST', `${path}/${one?.id}/redeliver`, { token: admin.token })
    await untilDelivered(path, 1)
    const ofOne = receiver.received.filter(
      ({ headers }) => headers['x-millrace-delivery'] === String(one?.id),
    )
    expect(ofOne).toHaveLength(2)
    const [first, second] = ofOne
    expect(second?.raw.equals(first?.raw ?? Buffer.alloc(0))).toBe(true)
  })

  it('is for those who may build, with the scope; looking is for those who may read', async () => {
    const path = await aToldBuild(`{webhook: "${receiver.url}", if: build.state == "passed"}`)
    const [one] = await untilDelivered(path, 1)
    const reading = await aToken(app, admin, { scopes: ['read_builds'] })
    const writing = await aToken(app, admin, { scopes: ['write_builds'] })
    const redeliver = (token: string) => app.request('POST', `${path}/${one?.id}/redeliver`, { token })
    expect([(await get(path, reading)).status, (await redeliver(reading)).status]).toEqual([200, 403])
    expect([(await get(path, writing)).status, (await redeliver(writing)).status]).toEqual([403, 200])
    const member = await aMember(app, org)
    const stranger = await aMember(app, (await anOrg()).org)
    expect((await get(path, member.token)).status).not.toBe(404)
    expect((await get(path, stranger.token)).status).toBe(404)
  })
})
