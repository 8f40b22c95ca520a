import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../../../test/app.ts'
import { aPipeline, type TestOrganization } from '../../../test/builders.ts'
import { aConnectedService } from '../../../test/connected-service.ts'
import { anOAuthSite, teamId } from '../../../test/remote-hosts/oauth-site.ts'
import { aBuild, runJob } from '../../../test/runs.ts'
import { useNotifications } from '../../../test/notifications.ts'
import type { BuildStateName } from '../names.ts'

const site = await anOAuthSite()
const notifications = useNotifications(site.env)
const { app, anOrg } = notifications
afterAll(() => site.close())

beforeEach(() => {
  site.posts.length = 0
  site.issues.clear()
  site.grants.length = 0
  site.tokens.clear()
  site.answering = null
  site.expiresIn = null
})

const failedAndFixed: readonly BuildStateName[] = ['build_failed', 'build_fixed']

/** Connected with a valid token of the site. */
async function aWorkspace(org: TestOrganization, settings: object = {}) {
  site.tokens.add('access-first')
  const given = {
    workspace_id: 'T0ACME',
    workspace_name: 'Acme',
    channel: '#builds',
    access_token: 'access-first',
  }
  const id = await aConnectedService(app, org, 'chat_workspace', { ...given, ...settings }, failedAndFixed)
  return { id, path: `${org.path}/services/${id}` }
}

async function aTracker(org: TestOrganization, settings: object = {}) {
  site.tokens.add('access-first')
  const given = { workspace_id: 'W0', workspace_name: 'Acme', team_id: teamId, access_token: 'access-first' }
  const id = await aConnectedService(app, org, 'issue_tracker', { ...given, ...settings }, failedAndFixed)
  return { id, path: `${org.path}/services/${id}` }
}

async function run(org: TestOrganization, pipeline: { id: string }, exitStatus: number, branch = 'main') {
  const build = await aBuild(app, org, pipeline, {
    branch,
    commit: 'c0ffee',
    message: 'Fix @everyone [x](y)',
  })
  await runJob(app, build, 'a', exitStatus)
  return build
}

const untilDelivered = (service: { id: string }, count: number) =>
  eventually(`${count} deliveries`, async () => {
    const all = await notifications.untilDelivered(service)
    return all.length >= count && all
  })

const lastError = async ({ path }: { path: string }, token: string) => {
  const { list } = await app.request('GET', `${path}/deliveries`, { token })
  const got = await app.request('GET', `${path}/deliveries/${list[0]?.id}`, { token })
  const attempts = got.body.attempts as unknown as Array<{ error: string | null }>
  return { error: attempts.at(-1)?.error ?? null, text: got.text }
}

describe('a chat workspace', () => {
  it('gets failed and fixed builds in its channel, and the record hides the token', async () => {
    const { org, admin } = await anOrg()
    const service = await aWorkspace(org)
    const pipeline = await aPipeline(app, org, 'steps: [{command: a, label: "Unit <tests>"}]', {
      name: 'App',
    })
    for (const exitStatus of [0, 1, 0]) await run(org, pipeline, exitStatus)
    await untilDelivered(service, 2)
    expect(site.posts.map(({ channel }) => channel)).toEqual(['#builds', '#builds'])
    expect(site.posts[0]?.text).toMatch(/^:x: <http.*\|App #2> failed \(main · c0ffee\)/)
    expect(site.posts[0]?.text).toContain('Unit &lt;tests&gt;> failed with exit status 1')
    expect(site.posts[1]?.text).toMatch(/^:tada: <http.*\|App #3> is fixed/)
    const { text } = await lastError(service, admin.token)
    expect(text).toContain('"Authorization":"XXXX"')
    expect(text).not.toContain('access-first')
  })

  it('is not told of a work tree that is not committed', async () => {
    const { org } = await anOrg()
    const service = await aWorkspace(org)
    const pipeline = await aPipeline(app, org, 'steps: [{command: a}]', { name: 'App' })
    const preflight = await aBuild(app, org, pipeline, { env: { BUILDKITE_PREFLIGHT: 'true' } })
    await runJob(app, preflight, 'a', 1)
    await run(org, pipeline, 1)
    await untilDelivered(service, 1)
    expect(site.posts.map(({ text }) => /App #\d+/.exec(text)?.[0])).toEqual(['App #2'])
  })

  it('that does not know the channel gets retries until it does', async () => {
    const { org, admin } = await anOrg()
    const service = await aWorkspace(org, { channel: '#late' })
    const pipeline = await aPipeline(app, org, 'steps: [{command: a}]')
    await run(org, pipeline, 1)
    await eventually('an attempt', async () => {
      const { list } = await app.request('GET', `${service.path}/deliveries`, { token: admin.token })
      return Number(list[0]?.attempts_count) > 0
    })
    expect((await lastError(service, admin.token)).error).toMatch(/channel_not_found\. Is the name right/)
    site.channels.push('#late')
    await notifications.passUntil(service, 'it is delivered', () => site.posts.length === 1)
    const delivered = await untilDelivered(service, 1)
    expect(site.posts[0]?.delivery).toBe(delivered[0]?.id)
  })

  it('can be tested', async () => {
    const { org, admin } = await anOrg()
    const service = await aWorkspace(org)
    expect((await app.request('POST', `${service.path}/test`, { token: admin.token })).status).toBe(201)
    await untilDelivered(service, 1)
    expect(site.posts[0]?.text).toContain('Millrace can write here')
  })

  it('whose token was revoked ends in a dead letter that says what to do', async () => {
    const { org, admin } = await anOrg()
    const service = await aWorkspace(org)
    site.tokens.clear()
    await app.request('POST', `${service.path}/test`, { token: admin.token })
    expect(await untilDelivered(service, 1)).toMatchObject([{ state: 'dead', attempts: 1 }])
    expect((await lastError(service, admin.token)).error).toMatch(
      /refuses the access token\. .*connect the service again/,
    )
  })
})

describe('the access token of a service', () => {
  const secretsOf = async (id: string) => {
    const row = await app.db
      .selectFrom('notification_services')
      .select(['secrets_sealed', 'secrets_key_id', 'settings', 'refresh_leased_until'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    const open = app.ctx.keys.open(row.secrets_sealed ?? Buffer.alloc(0), row.secrets_key_id ?? '')
    const settings = { ...(JSON.parse(open) as object), ...(row.settings as object) } as Record<
      string,
      string
    >
    return { settings, lease: row.refresh_leased_until }
  }

  /** With an expired access token, and a refresh token that works once. */
  async function anExpired(org: TestOrganization) {
    site.expiresIn = 3600
    const answer = await fetch(`${site.origin}/seed`, { method: 'POST' })
    const { access_token, refresh_token } = (await answer.json()) as Record<string, string>
    site.tokens.delete(access_token ?? '')
    return aWorkspace(org, {
      access_token,
      refresh_token,
      token_expires_at: new Date(Date.now() - 1000).toISOString(),
    })
  }

  it('is refreshed when it has expired, once for all deliveries', async () => {
    const { org } = await anOrg()
    const service = await anExpired(org)
    const pipeline = await aPipeline(app, org, 'steps: [{command: a}]')
    // In different ordered queues, so all at once.
    await Promise.all(Array.from({ length: 8 }, (_, n) => run(org, pipeline, 1, `branch-${n}`)))
    expect((await untilDelivered(service, 8)).map(({ state }) => state)).toEqual(Array(8).fill('delivered'))
    expect(site.grants).toEqual([{ type: 'refresh_token', outcome: 'granted' }])
    const kept = await secretsOf(service.id)
    expect([site.tokens.has(kept.settings['access_token'] ?? ''), kept.lease]).toEqual([true, null])
    expect(Date.parse(kept.settings['token_expires_at'] ?? '')).toBeGreaterThan(Date.now() + 3_000_000)
  })

  it('is refreshed when the site rejects it before it expires', async () => {
    const { org } = await anOrg()
    const service = await anExpired(org)
    await app.db
      .updateTable('notification_services')
      .set({ settings: JSON.stringify({ channel: '#builds', token_expires_at: '2100-01-01T00:00:00.000Z' }) })
      .where('id', '=', service.id)
      .execute()
    await run(org, await aPipeline(app, org, 'steps: [{command: a}]'), 1)
    expect(await untilDelivered(service, 1)).toMatchObject([{ state: 'delivered', attempts: 1 }])
    expect(site.grants).toEqual([{ type: 'refresh_token', outcome: 'granted' }])
  })

  it('is not lost while the site cannot refresh it', async () => {
    const { org, admin } = await anOrg()
    const service = await anExpired(org)
    site.answering = (path, response) => {
      if (path !== '/token') return false
      response.statusCode = 503
      response.end()
      return true
    }
    await run(org, await aPipeline(app, org, 'steps: [{command: a}]'), 1)
    await eventually('an attempt', async () => {
      const { list } = await app.request('GET', `${service.path}/deliveries`, { token: admin.token })
      return Number(list[0]?.attempts_count) > 0
    })
    expect((await secretsOf(service.id)).lease).toBeNull()
    site.answering = null
    await notifications.passUntil(service, 'it is delivered', () => site.posts.length === 1)
  })

  it('is refreshed by another process when the lease of the first one ends', async () => {
    const { org } = await anOrg()
    const service = await anExpired(org)
    const lease = { refresh_leased_until: new Date(Date.now() + 1500).toISOString() }
    await app.db.updateTable('notification_services').set(lease).where('id', '=', service.id).execute()
    await run(org, await aPipeline(app, org, 'steps: [{command: a}]'), 1)
    expect(await untilDelivered(service, 1)).toMatchObject([{ state: 'delivered', attempts: 1 }])
  })
})

describe('an issue tracker', () => {
  const open = () => [...site.issues.values()].filter(({ state }) => state !== 'completed')

  it('has an issue opened by the first failure of a branch and closed when the branch is fixed', async () => {
    const { org } = await anOrg()
    const service = await aTracker(org)
    const pipeline = await aPipeline(app, org, 'steps: [{command: a, label: "Unit [tests]"}]', {
      name: 'App',
    })
    await run(org, pipeline, 1)
    await run(org, pipeline, 1)
    await run(org, pipeline, 1, 'other')
    await untilDelivered(service, 3)
    expect(
      open()
        .map(({ title }) => title)
        .sort(),
    ).toEqual(['App fails on main', 'App fails on other'])
    const first = open().find(({ title }) => title === 'App fails on main')
    expect(first).toMatchObject({ teamId })
    expect(first?.description).toContain(`http://millrace.test/${org.slug}/${pipeline.slug}/builds/1`)
    expect(first?.description).toContain('Unit \\[tests\\]')
    expect(first?.description).toContain('> Fix \\@everyone \\[x\\]\\(y\\)')
    await run(org, pipeline, 0)
    await untilDelivered(service, 4)
    expect(open().map(({ title }) => title)).toEqual(['App fails on other'])
    expect(site.issues.get(first?.id ?? '')?.comments).toEqual([
      expect.stringMatching(/^Fixed by http.*builds\/4$/),
    ])
    await run(org, pipeline, 1)
    await untilDelivered(service, 5)
    expect(open()).toHaveLength(2)
  })

  it('gets one issue for a failure whose first response was lost', async () => {
    const { org, admin } = await anOrg()
    const service = await aTracker(org)
    site.losesAnswer = true
    await run(org, await aPipeline(app, org, 'steps: [{command: a}]'), 1)
    await notifications.passUntil(service, 'it is delivered', async () => {
      const { list } = await app.request('GET', `${service.path}/deliveries`, { token: admin.token })
      return String(list[0]?.state) === 'delivered'
    })
    expect((await notifications.untilDelivered(service))[0]?.attempts).toBe(2)
    expect([site.issues.size, site.losesAnswer]).toEqual([1, false])
  })

  it('keeps issues as they are that people have closed or deleted', async () => {
    const { org } = await anOrg()
    const service = await aTracker(org)
    const pipeline = await aPipeline(app, org, 'steps: [{command: a}]')
    for (const meddle of [
      () => site.issues.clear(),
      () => open().forEach((issue) => (issue.state = 'completed')),
    ]) {
      await run(org, pipeline, 1)
      const before = (await notifications.untilDelivered(service)).length
      await eventually('it is open', async () => open().length === 1)
      meddle()
      await run(org, pipeline, 0)
      await untilDelivered(service, Math.max(2, before + 1))
    }
    expect([...site.issues.values()].flatMap(({ comments }) => comments)).toEqual([])
    expect((await untilDelivered(service, 4)).map(({ state }) => state)).toEqual(Array(4).fill('delivered'))
  })

  it('whose team does not exist ends in a dead letter that says so; a test opens no issue', async () => {
    const { org, admin } = await anOrg()
    const service = await aTracker(org, { team_id: 'NOPE' })
    await app.request('POST', `${service.path}/test`, { token: admin.token })
    expect(await untilDelivered(service, 1)).toMatchObject([{ state: 'dead' }])
    expect((await lastError(service, admin.token)).error).toMatch(/no team NOPE/)
    const good = await aTracker(org, { team_id: 'eng' })
    await app.request('POST', `${good.path}/test`, { token: admin.token })
    expect(await untilDelivered(good, 1)).toMatchObject([{ state: 'delivered' }])
    expect(site.issues.size).toBe(0)
  })
})
