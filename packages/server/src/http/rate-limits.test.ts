import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApp, useOwnApp, type TestApp } from '../../test/app.ts'
import { aMember, anOrganization, aToken, tokenId } from '../../test/builders.ts'
import { aSession } from '../../test/sessions.ts'

/** Of the minute that began with the first request. */
const secondsLeft = /^([1-9]|[1-5]\d|60)$/

const env = {
  MILLRACE_RATE_LIMIT: 'on',
  MILLRACE_RATE_LIMIT_USER: '4',
  MILLRACE_RATE_LIMIT_ORGANIZATION: '6',
}

describe('rate limits that are not enforced', () => {
  const app = useOwnApp({ env: { ...env, MILLRACE_RATE_LIMIT: 'off' } })

  it('are in the headers of every answer to a token', async () => {
    const org = await anOrganization(app)
    const { token } = await aMember(app, org)
    const answer = await app.request('GET', org.path, { token })
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'ratelimit-scope': 'rest',
      'ratelimit-remaining': '5',
      'ratelimit-limit': '6',
      'ratelimit-reset': expect.stringMatching(secondsLeft),
      'ratelimit-user-scope': 'rest_user',
      'ratelimit-user-remaining': '3',
      'ratelimit-user-limit': '4',
      'ratelimit-user-reset': expect.stringMatching(secondsLeft),
    })
    expect(answer.headers.get('ratelimit-warning')).toBeNull()
    const missing = await app.request('GET', `${org.path}/clusters/none`, { token })
    expect([missing.status, missing.headers.get('ratelimit-remaining')]).toEqual([404, '4'])
  })

  it('are in the headers of an answer to a path or a method that does not exist', async () => {
    const org = await anOrganization(app)
    const { token } = await aMember(app, org)
    const limits = async (method: string, path: string) => {
      const { status, headers } = await app.request(method, path, { token })
      return [status, headers.get('ratelimit-user-remaining'), headers.get('ratelimit-remaining')]
    }
    expect(await limits('GET', '/v2/nothing')).toEqual([404, '3', null])
    expect(await limits('GET', `${org.path}/nothing`)).toEqual([404, '2', '5'])
    expect(await limits('POST', org.path)).toEqual([405, '1', '4'])
    expect((await app.request('GET', '/v2/nothing')).headers.get('ratelimit-user-remaining')).toBeNull()
  })

  it('count what belongs to no organization for the user only', async () => {
    const { token } = await aMember(app, await anOrganization(app))
    const answer = await app.request('GET', '/v2/user', { token })
    expect(answer.headers.get('ratelimit-user-remaining')).toBe('3')
    expect(answer.headers.get('ratelimit-remaining')).toBeNull()
  })

  it('warn in the headers and refuse nothing', async () => {
    const org = await anOrganization(app)
    const { token } = await aMember(app, org)
    for (let count = 0; count < 4; count++) await app.request('GET', org.path, { token })
    const answer = await app.request('GET', org.path, { token })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('ratelimit-user-remaining')).toBe('0')
    expect(answer.headers.get('ratelimit-user-warning')).toBe('You have exceeded your API rate limit.')
    expect(answer.headers.get('ratelimit-warning')).toBeNull()
  })
})

describe('rate limits that are enforced', () => {
  const app = useOwnApp({ env })
  let second: TestApp
  beforeAll(async () => {
    second = await startApp({ env }, app.database)
  })
  afterAll(() => second.close())

  it('refuse a user with 429 when the minute’s requests are spent, whatever the server and the token', async () => {
    const org = await anOrganization(app)
    const user = await aMember(app, org)
    const otherToken = await aToken(app, user)
    for (const server of [app, second, app, second]) {
      expect((await server.request('GET', org.path, { token: user.token })).status).toBe(200)
    }
    const answer = await second.request('GET', '/v2/user', { token: otherToken })
    expect(answer.status).toBe(429)
    const { reset } = answer.body
    expect(String(reset)).toMatch(secondsLeft)
    expect(answer.text).toBe(
      JSON.stringify({
        message: `You have exceeded your API rate limit. Please wait ${reset} seconds before making more requests.`,
        scope: 'rest_user',
        limit: 4,
        current: 5,
        reset,
      }),
    )
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'ratelimit-user-remaining': '0',
      'retry-after': String(reset),
      'ratelimit-user-reset': String(reset),
      'ratelimit-user-warning': 'You have exceeded your API rate limit.',
    })
  })

  it('count the tokens of a person, the pages of the person, and each single sign-on provider apart', async () => {
    const [own, others] = [await anOrganization(app), await anOrganization(app)]
    const user = await aMember(app, own)
    const ask = async (sent: { token?: string; headers?: Record<string, string> }) =>
      (await app.request('GET', '/v2/user', sent)).status
    const provider = (organization: { id: string }) =>
      aSession(app, user, { how: 'sso', organizationId: organization.id })
    const byToken = { how: 'token', accessTokenId: await tokenId(app, user.token) } as const
    const foreign = await provider(others)
    const ways = [
      { token: user.token },
      { headers: foreign },
      { headers: await provider(own) },
      { headers: await aSession(app, user) },
    ]
    for (const way of ways) {
      const statuses = []
      for (let count = 0; count < 5; count++) statuses.push(await ask(way))
      expect(statuses).toEqual([200, 200, 200, 200, 429])
    }
    expect(await ask({ headers: await provider(others) })).toBe(429)
    expect(await ask({ headers: await aSession(app, user, byToken) })).toBe(429)
  })

  it('refuse an organization with 429, whoever spent its requests', async () => {
    const org = await anOrganization(app)
    const users = await Promise.all([aMember(app, org), aMember(app, org), aMember(app, org)])
    for (const { token } of [...users, ...users]) {
      expect((await app.request('GET', org.path, { token })).status).toBe(200)
    }
    const answer = await second.request('GET', org.path, { token: users[0].token })
    expect(answer.status).toBe(429)
    expect(answer.body).toMatchObject({ scope: 'rest', limit: 6, current: 7 })
    expect(answer.headers.get('ratelimit-warning')).toBe('You have exceeded your API rate limit.')
    expect(answer.headers.get('ratelimit-user-warning')).toBeNull()
  })

  it('let exactly the limit through when requests come at once to two servers', async () => {
    const { token } = await aMember(app, await anOrganization(app))
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 ? app : second).request('GET', '/v2/user', { token }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(8)
  })

  it('start again when the window has passed', async () => {
    const user = await aMember(app, await anOrganization(app))
    const ask = async () => (await app.request('GET', '/v2/user', { token: user.token })).status
    for (let count = 0; count < 5; count++) await ask()
    expect(await ask()).toBe(429)
    await app.db
      .updateTable('rate_limits')
      .set({ expire: Date.now() - 1 })
      .where('key', '=', `user:${user.id}`)
      .execute()
    expect(await ask()).toBe(200)
  })

  it('are shown without counting twice', async () => {
    const org = await anOrganization(app)
    const { token } = await aMember(app, org)
    await second.request('GET', org.path, { token })
    const answer = await app.request('GET', `${org.path}/rate_limit`, { token })
    expect(answer.body.scopes.rest).toMatchObject({ limit: 6, current: 2, enforced: true })
  })

  it('do not apply to endpoints without a token', async () => {
    for (let count = 0; count < 8; count++) {
      const answer = await app.request('GET', '/v2/meta')
      expect(answer.status).toBe(200)
      expect(answer.headers.get('ratelimit-limit')).toBeNull()
    }
  })
})

describe('default rate limits', () => {
  const app = useOwnApp()

  it('are enforced, and are higher than ordinary clients need', async () => {
    const org = await anOrganization(app)
    const { token } = await aMember(app, org)
    const answer = await app.request('GET', `${org.path}/rate_limit`, { token })
    expect(answer.body.scopes.rest).toMatchObject({ limit: 60_000, enforced: true })
    expect(answer.headers.get('ratelimit-user-limit')).toBe('30000')
  })
})

describe('rate limits that each process enforces', () => {
  const app = useOwnApp({ env: { MILLRACE_RATE_LIMIT_USER: '4' } })

  it('refuse with 429 when the minute’s requests are spent', async () => {
    const org = await anOrganization(app)
    const { token } = await aMember(app, org)
    const statuses: number[] = []
    for (let count = 0; count < 5; count++)
      statuses.push((await app.request('GET', org.path, { token })).status)
    expect(statuses).toEqual([200, 200, 200, 200, 429])
  })
})
