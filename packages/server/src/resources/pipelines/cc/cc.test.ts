import { beforeAll, describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  aTeam,
  aToken,
  inTeam,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { aBuild, runJob, startJob } from '../../../../test/runs.ts'

const app = useApp()

let org: TestOrganization
let admin: TestUser
beforeAll(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
})

const value = '(?:[^<&"]|&(?:amp|lt|gt|quot);)*'
const fields = ['name', 'activity', 'lastBuildStatus', 'lastBuildLabel', 'lastBuildTime', 'webUrl']
const project = `  <Project ${fields.map((name) => `${name}="(${value})"`).join(' ')}/>\n`
const file = new RegExp(
  `^<\\?xml version="1\\.0" encoding="UTF-8"\\?>\n<Projects>\n(?:${project})*</Projects>\n$`,
)

/** Refuses what is not well-formed or lacks a field. */
function read(text: string) {
  expect(text).toMatch(file)
  return [...text.matchAll(new RegExp(project, 'g'))].map(([, ...values]) =>
    Object.fromEntries(fields.map((name, n) => [name, values[n] ?? ''])),
  )
}

const get = async (path: string, token = admin.token) => {
  const answer = await app.request('GET', path, { token })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/xml; charset=utf-8'])
  return read(answer.text)
}

const basic = (pair: string) => ({ Authorization: `Basic ${Buffer.from(pair).toString('base64')}` })

describe('GET …/pipelines/{pipeline.slug}/cc.xml', () => {
  it('has how the newest build that passed or failed ended, and whether one is running', async () => {
    const pipeline = await aPipeline(app, org, 'steps: [{ command: a }]')
    const path = `${pipeline.path}/cc.xml`
    const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
    const [unknown] = await get(path)
    expect(unknown).toEqual({
      name: expect.any(String),
      activity: 'Sleeping',
      lastBuildStatus: 'Unknown',
      lastBuildLabel: '',
      lastBuildTime: expect.stringMatching(time),
      webUrl: `${baseUrl}/${org.slug}/${pipeline.slug}`,
    })
    await runJob(app, await aBuild(app, org, pipeline), 'a')
    expect(await get(path)).toMatchObject([
      { activity: 'Sleeping', lastBuildStatus: 'Success', lastBuildLabel: '1' },
    ])
    await runJob(app, await aBuild(app, org, pipeline), 'a', 1)
    await startJob(app, await aBuild(app, org, pipeline), 'a')
    const [failed] = await get(path)
    expect(failed).toMatchObject({ activity: 'Building', lastBuildStatus: 'Failure', lastBuildLabel: '2' })
    const shown = await app.request('GET', `${pipeline.path}/builds/2`, { token: admin.token })
    expect(failed?.['lastBuildTime']).toBe(shown.body.finished_at)
  })

  it('counts a blocked build as its block says, and leaves out work trees that are not committed', async () => {
    const steps = 'steps: [{ command: a }, { block: b, blocked_state: failed }]'
    const pipeline = await aPipeline(app, org, steps)
    await runJob(app, await aBuild(app, org, pipeline), 'a')
    const preflight = await aBuild(app, org, pipeline, { env: { BUILDKITE_PREFLIGHT: 'true' } })
    await startJob(app, preflight, 'a')
    expect(await get(`${pipeline.path}/cc.xml`)).toMatchObject([
      { activity: 'Sleeping', lastBuildStatus: 'Failure', lastBuildLabel: '1' },
    ])
  })

  it('looks at the builds of one branch', async () => {
    const pipeline = await aPipeline(app, org, 'steps: [{ command: a }]', { name: `A "quoted" <b> & \u0001` })
    await runJob(app, await aBuild(app, org, pipeline, { branch: 'main' }), 'a')
    await runJob(app, await aBuild(app, org, pipeline, { branch: 'x&"y"' }), 'a', 1)
    const of = (branch: string) => get(`${pipeline.path}/cc.xml?branch=${branch}`)
    expect(await of('main')).toMatchObject([
      { name: 'A &quot;quoted&quot; &lt;b&gt; &amp; \uFFFD (main)', lastBuildStatus: 'Success' },
    ])
    expect(await of(encodeURIComponent('x&"y"'))).toMatchObject([{ lastBuildStatus: 'Failure' }])
    expect(await of('other')).toMatchObject([{ lastBuildStatus: 'Unknown' }])
    expect(await of('%ED%A0%80')).toMatchObject([{ lastBuildStatus: 'Unknown' }])
  })
})

describe('GET …/organizations/{org.slug}/cc.xml', () => {
  it('has the pipelines that the caller may see, by name, and no archived ones', async () => {
    const own = await anOrganization(app)
    const owner = await anAdmin(app, own)
    const [b, , archived] = [
      await aPipeline(app, own, 'steps: []', { name: 'b' }),
      await aPipeline(app, own, 'steps: []', { name: 'a' }),
      await aPipeline(app, own, 'steps: []', { name: 'c' }),
    ]
    await app.request('POST', `${archived.path}/archive`, { token: owner.token })
    const path = `${own.path}/cc.xml`
    const names = async (token: string) => (await get(path, token)).map(({ name }) => name)
    expect(await names(owner.token)).toEqual(['a', 'b'])
    await app.request('POST', `${own.path}/teams/enable`, { token: owner.token })
    const member = await aMember(app, own)
    expect(await names(member.token)).toEqual([])
    expect((await app.request('GET', `${b.path}/cc.xml`, { token: member.token })).status).toBe(404)
    const team = await aTeam(app, own, owner)
    await inTeam(app, team, owner, member)
    const body = { pipeline_id: b.id, access_level: 'read_only' }
    await app.request('POST', `${team.path}/pipelines`, { token: owner.token, body })
    expect(await names(member.token)).toEqual(['b'])
    expect((await app.request('GET', path, { token: admin.token })).status).toBe(404)
  })

  it('takes a token as the password of Basic, and asks for it', async () => {
    const path = `${org.path}/cc.xml`
    const ask = (headers: Record<string, string>, at = path) => app.request('GET', at, { headers })
    expect((await ask(basic(`anybody:${admin.token}`))).status).toBe(200)
    const unscoped = await aToken(app, admin, { scopes: ['read_pipelines'] })
    expect((await ask(basic(`:${unscoped}`))).status).toBe(403)
    for (const headers of [{}, basic('admin:wrong'), basic(admin.token), { Authorization: 'Basic !' }]) {
      const answer = await ask(headers)
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="Millrace"'])
    }
    // Nothing else takes it: a browser that has the password would send it with every request.
    const other = await ask(basic(`anybody:${admin.token}`), `${org.path}/pipelines`)
    expect([other.status, other.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  })
})
