import { describe, expect, it } from 'vitest'
import { baseUrl, sortedStatuses, useApp } from '../../../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  aTeam,
  aToken,
  auditTrail,
  inTeam,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import {
  aBuild,
  buildState,
  jobNamed,
  runJob,
  startJob,
  statesOf,
  applyEvent,
  type TestBuild,
} from '../../../../test/runs.ts'
import { graphqlId, newId } from '../../../lib/ids.ts'

const app = useApp()

interface Scene {
  org: TestOrganization
  admin: TestUser
  pipeline: { id: string; slug: string; path: string }
  build: TestBuild
  /** `…/builds/{number}` */
  path: string
  /** Both forms of the address of a job. */
  urls(name: string): Promise<[short: string, long: string]>
}

async function aScene(configuration: string): Promise<Scene> {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const pipeline = await aPipeline(app, org, configuration)
  const build = await aBuild(app, org, pipeline)
  const path = `${pipeline.path}/builds/${build.number}`
  return {
    org,
    admin,
    pipeline,
    build,
    path,
    async urls(name) {
      const id = await jobNamed(app, build, name)
      return [`${org.path}/jobs/${id}`, `${path}/jobs/${id}`]
    },
  }
}

/** A member of a team that may do so much with the pipeline, in an organization that goes by teams. */
async function aTeamMember(
  { org, admin, pipeline }: Scene,
  access: 'read_only' | 'build_and_read' | null,
): Promise<TestUser & { team: { id: string; slug: string; name: string } }> {
  const team = await aTeam(app, org, admin)
  await app.db
    .updateTable('organizations')
    .set({ teams_enabled_at: new Date().toISOString() })
    .where('id', '=', org.id)
    .execute()
  const member = await aMember(app, org)
  await inTeam(app, team, admin, member)
  if (access !== null) {
    await app.db
      .insertInto('team_pipelines')
      .values({ team_id: team.id, pipeline_id: pipeline.id, organization_id: org.id, access_level: access })
      .execute()
  }
  return { ...member, team }
}

const get = (path: string, token: string) => app.request('GET', path, { token })
const put = (path: string, token: string, body?: unknown) => app.request('PUT', path, { token, body })

describe('GET /organizations/{org.slug}/pipelines/{pipeline.slug}/builds/{number}/jobs', () => {
  const configuration = `
    - { command: a, key: first, retry: { automatic: [{ exit_status: 1, limit: 1 }] } }
    - { group: G, key: g, steps: [{ command: b }] }
    - wait
    - { command: c }`

  const names = (list: ReadonlyArray<{ command?: unknown }>) => list.map(({ command }) => command ?? null)

  it('lists the jobs in the order of the steps, retried ones included', async () => {
    const { build, path, admin } = await aScene(configuration)
    await runJob(app, build, 'a', 1)
    const answer = await get(`${path}/jobs`, admin.token)
    expect(answer.status).toBe(200)
    expect(names(answer.list)).toEqual(['a', 'a', 'b', null, 'c'])
    expect(answer.list.map(({ retried }) => retried)).toEqual([true, false, false, false, false])
    expect(answer.list[1]).toMatchObject({
      retry_source: { job_id: answer.list[0]?.id, retry_type: 'automatic' },
    })
    const latest = await get(`${path}/jobs?include_retried_jobs=false`, admin.token)
    expect(names(latest.list)).toEqual(['a', 'b', null, 'c'])
  })

  it('pages by cursor, forth and back', async () => {
    const { path, admin } = await aScene(configuration)
    const first = await get(`${path}/jobs?per_page=2`, admin.token)
    expect(names(first.list)).toEqual(['a', 'b'])
    const follow = (link: unknown) => get(String(link).slice(baseUrl.length), admin.token)
    const second = await follow(first.body.links.next)
    expect(names(second.list)).toEqual([null, 'c'])
    expect(second.body.links.next).toBeUndefined()
    expect(second.headers.get('link')).toContain('rel="prev"')
    expect(names((await follow(second.body.links.prev)).list)).toEqual(['a', 'b'])
  })

  it('filters by any of several states, by step key and by group key', async () => {
    const { path, admin } = await aScene(configuration)
    const commands = async (query: string) => names((await get(`${path}/jobs?${query}`, admin.token)).list)
    expect(await commands('state[]=scheduled')).toEqual(['a', 'b'])
    expect(await commands('state%5B%5D=scheduled&state%5B%5D=waiting')).toEqual(['a', 'b', null, 'c'])
    expect(await commands('state=passed')).toEqual([])
    expect(await commands('step_key=first')).toEqual(['a'])
    expect(await commands('group_key=g')).toEqual(['b'])
    expect(await commands('step_key=unknown')).toEqual([])
    expect(await commands('group_key=unknown')).toEqual([])
  })

  it('counts a running job that promised a hard failure as failed and not as running', async () => {
    const { build, path, admin } = await aScene(
      '[{ command: a }, { command: b, soft_fail: true }, { command: c }]',
    )
    for (const name of ['a', 'b', 'c']) await startJob(app, build, name)
    for (const name of ['a', 'b']) {
      await applyEvent(app, build, {
        type: 'promise',
        jobId: await jobNamed(app, build, name),
        exitStatus: 3,
      })
    }
    const commands = async (query: string) => names((await get(`${path}/jobs?${query}`, admin.token)).list)
    expect(await commands('state[]=failed')).toEqual(['a'])
    expect(await commands('state[]=running')).toEqual(['b', 'c'])
    expect(await commands('state[]=running&state[]=failed')).toEqual(['a', 'b', 'c'])
  })

  it('answers 400 to an unknown state, to the raw state finished, to a bad per_page and to a bad cursor', async () => {
    const { path, admin } = await aScene(configuration)
    for (const query of ['state[]=jammed', 'state[]=finished', 'per_page=0', 'per_page=101', 'after=abc']) {
      const answer = await get(`${path}/jobs?${query}`, admin.token)
      expect([query, answer.status, typeof answer.body.message]).toEqual([query, 400, 'string'])
    }
    const both = await get(`${path}/jobs?after=a&before=b`, admin.token)
    expect(both.status).toBe(400)
  })

  it('answers 404 to a build the pipeline does not have', async () => {
    const { pipeline, admin } = await aScene(configuration)
    const answer = await get(`${pipeline.path}/builds/99/jobs`, admin.token)
    expect([answer.status, answer.body]).toEqual([404, { message: 'No build found' }])
  })
})

describe('GET …/jobs/{job.id}', () => {
  it('answers both addresses of a job with the job', async () => {
    const scene = await aScene('[{ command: make, key: build, label: ":hammer: Build" }]')
    const id = await jobNamed(app, scene.build, 'make')
    for (const url of await scene.urls('make')) {
      const answer = await get(url, scene.admin.token)
      expect(answer.status).toBe(200)
      expect(answer.body).toMatchObject({
        id,
        graphql_id: Buffer.from(`Job---${id}`).toString('base64'),
        type: 'script',
        name: ':hammer: Build',
        step_key: 'build',
        state: 'scheduled',
        command: 'make',
        build_url: `${baseUrl}${scene.path}`,
        artifact_url: `${baseUrl}${scene.path}/jobs/${id}/artifacts`,
      })
    }
  })

  it('answers 404 to a job of another build, another pipeline or another organization', async () => {
    const scene = await aScene('[{ command: make }]')
    const other = await aBuild(app, scene.org, scene.pipeline)
    const sibling = await aPipeline(app, scene.org, '[{ command: make }]')
    await aBuild(app, scene.org, sibling)
    const stranger = await aScene('[{ command: make }]')
    const id = await jobNamed(app, scene.build, 'make')
    const urls = [
      `${scene.pipeline.path}/builds/${other.number}/jobs/${id}`,
      `${sibling.path}/builds/1/jobs/${id}`,
      `${scene.org.path}/jobs/${newId()}`,
      `${scene.org.path}/jobs/${await jobNamed(app, stranger.build, 'make')}`,
      `${scene.org.path}/jobs/not-an-id`,
    ]
    for (const url of urls) {
      const answer = await get(url, scene.admin.token)
      expect([url, answer.status, answer.body]).toEqual([url, 404, { message: 'No job found' }])
    }
    const foreign = await get(`${stranger.org.path}/jobs/${id}`, stranger.admin.token)
    expect([foreign.status, foreign.body]).toEqual([404, { message: 'No job found' }])
  })

  it('answers 404 to a member whose teams have no access to the pipeline', async () => {
    const scene = await aScene('[{ command: make }]')
    const outsider = await aTeamMember(scene, null)
    const reader = await aTeamMember(scene, 'read_only')
    const [short, long] = await scene.urls('make')
    const answers = await Promise.all([get(short, outsider.token), get(long, outsider.token)])
    expect(answers.map(({ status, body }) => [status, body.message])).toEqual([
      [404, 'No job found'],
      [404, 'No pipeline found'],
    ])
    expect((await get(short, reader.token)).status).toBe(200)
  })

  it('answers 403 to a token without the read_builds scope', async () => {
    const scene = await aScene('[{ command: make }]')
    const token = await aToken(app, scene.admin, { scopes: ['write_builds'] })
    for (const url of await scene.urls('make')) {
      const answer = await get(url, token)
      expect([answer.status, answer.body.message]).toEqual([
        403,
        "Your access token doesn't have the read_builds scope",
      ])
    }
  })
})

describe('PUT …/jobs/{job.id}/retry', () => {
  it('answers with the new job and records who asked', async () => {
    const scene = await aScene('[{ command: a }]')
    const [, url] = await scene.urls('a')
    const old = await jobNamed(app, scene.build, 'a')
    await runJob(app, scene.build, 'a', 1)
    expect(await buildState(app, scene.build)).toBe('failed')
    const answer = await put(`${url}/retry`, scene.admin.token)
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      state: 'scheduled',
      retries_count: 1,
      retry_source: { job_id: old, retry_type: 'manual' },
    })
    const before = await get(url, scene.admin.token)
    expect(before.body).toMatchObject({
      state: 'failed',
      retried: true,
      retried_in_job_id: answer.body.id,
      retry_type: 'manual',
      retried_by: {
        id: scene.admin.id,
        email: scene.admin.email,
        graphql_id: graphqlId('User', scene.admin.id),
      },
    })
    expect(await auditTrail(app, scene.org, 'JOB_RETRIED')).toHaveLength(1)
  })

  it('answers 400 to a job that waits, runs, passed or is no command', async () => {
    const scene = await aScene('[{ command: a }, { command: b }, wait, { block: Go? }]')
    await runJob(app, scene.build, 'a')
    await startJob(app, scene.build, 'b')
    for (const name of ['a', 'b', 'waiter', 'Go?']) {
      const [url] = await scene.urls(name)
      const answer = await put(`${url}/retry`, scene.admin.token)
      expect([name, answer.status, answer.body]).toEqual([
        name,
        400,
        { message: 'Only failed, timed out or canceled jobs can be retried' },
      ])
    }
  })

  it('retries a job that passed where the step permits it', async () => {
    const scene = await aScene('[{ command: a, retry: { manual: { permit_on_passed: true } } }]')
    const [url] = await scene.urls('a')
    await runJob(app, scene.build, 'a')
    expect((await put(`${url}/retry`, scene.admin.token)).status).toBe(200)
  })

  it('answers 422 where the step forbids retries, with its reason', async () => {
    const scene = await aScene(
      '[{ command: a, retry: { manual: { allowed: false, reason: "Deploys run once" } } }]',
    )
    const [url] = await scene.urls('a')
    await runJob(app, scene.build, 'a', 1)
    const answer = await put(`${url}/retry`, scene.admin.token)
    expect([answer.status, answer.body]).toEqual([422, { message: 'Deploys run once' }])
  })

  it('answers 422 to a job of a canceled build', async () => {
    const scene = await aScene('[{ command: a }, { command: b }]')
    const [url] = await scene.urls('a')
    await runJob(app, scene.build, 'a', 1)
    await applyEvent(app, scene.build, { type: 'cancel_build', reason: null })
    const answer = await put(`${url}/retry`, scene.admin.token)
    expect([answer.status, answer.body]).toEqual([
      422,
      { message: 'Jobs from canceled builds cannot be retried' },
    ])
  })

  it('answers 422 to a job of a build that a synchronous trigger step of a canceled build made', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const target = await aPipeline(app, org, '[{ command: c }]')
    const parent = await aBuild(
      app,
      org,
      await aPipeline(app, org, `[{ trigger: ${target.slug} }, { command: d }]`),
    )
    const { id, number } = await app.db
      .selectFrom('builds')
      .select(['id', 'number'])
      .where('pipeline_id', '=', target.id)
      .executeTakeFirstOrThrow()
    const child = { id, number, organizationId: org.id }
    const jobId = await jobNamed(app, child, 'c')
    await runJob(app, child, 'c', 1)
    await applyEvent(app, parent, { type: 'cancel_build', reason: null })
    const answer = await put(`${org.path}/jobs/${jobId}/retry`, admin.token)
    expect([answer.status, answer.body]).toEqual([
      422,
      {
        message:
          "This job can't be retried because this build was triggered by a synchronous trigger step in a canceled build",
      },
    ])
  })

  it('lets one of several simultaneous retries win, and answers 422 to the others', async () => {
    const scene = await aScene('[{ command: a }]')
    const [url] = await scene.urls('a')
    await runJob(app, scene.build, 'a', 1)
    const answers = await Promise.all(Array.from({ length: 5 }, () => put(`${url}/retry`, scene.admin.token)))
    expect(sortedStatuses(answers)).toEqual([200, 422, 422, 422, 422])
    const refusal = answers.find(({ status }) => status === 422)
    expect(refusal?.body).toEqual({ message: 'The job has already been retried' })
  })

  it('and a cancel of the build at once leave nothing to run', async () => {
    const scene = await aScene('[{ command: a }, { command: b }]')
    const [url] = await scene.urls('a')
    await runJob(app, scene.build, 'a', 1)
    const [retried, canceled] = await Promise.all([
      put(`${url}/retry`, scene.admin.token),
      put(`${scene.path}/cancel`, scene.admin.token),
    ])
    expect([200, 422]).toContain(retried.status)
    expect(canceled.status).toBe(200)
    expect(await buildState(app, scene.build)).toBe('canceled')
    expect(Object.values(await statesOf(app, scene.build))).not.toContain('scheduled')
  })

  it('answers 403 to those who may only read the pipeline, and to a token without write_builds', async () => {
    const scene = await aScene('[{ command: a }]')
    await runJob(app, scene.build, 'a', 1)
    const reader = await aTeamMember(scene, 'read_only')
    const weak = await aToken(app, scene.admin, { scopes: ['read_builds'] })
    for (const url of await scene.urls('a')) {
      expect((await put(`${url}/retry`, reader.token)).status).toBe(403)
      expect((await put(`${url}/retry`, weak)).status).toBe(403)
    }
    const builder = await aTeamMember(scene, 'build_and_read')
    const [short] = await scene.urls('a')
    expect((await put(`${short}/retry`, builder.token)).status).toBe(200)
  })
})

describe('PUT …/jobs/{job.id}/reprioritize', () => {
  it('changes the priority of a job that waits or is scheduled', async () => {
    const scene = await aScene('[{ command: a }, wait, { command: b }]')
    for (const name of ['a', 'b']) {
      for (const [index, url] of (await scene.urls(name)).entries()) {
        const answer = await put(`${url}/reprioritize`, scene.admin.token, { priority: index - 7 })
        expect([answer.status, answer.body.priority]).toEqual([200, { number: index - 7 }])
      }
    }
    expect(await auditTrail(app, scene.org, 'JOB_REPRIORITIZED')).toHaveLength(4)
  })

  it('answers 400 to a priority that is no integer', async () => {
    const scene = await aScene('[{ command: a }]')
    const [url] = await scene.urls('a')
    for (const body of [
      { priority: 'high' },
      { priority: 1.5 },
      { priority: null },
      {},
      undefined,
      { priority: 2 ** 40 },
    ]) {
      const answer = await put(`${url}/reprioritize`, scene.admin.token, body)
      expect([answer.status, answer.body]).toEqual([400, { message: 'Priority must be an integer' }])
    }
  })

  it('answers 422 once an agent has the job, when it has ended, and for a job that runs no command', async () => {
    const scene = await aScene('[{ command: a }, { command: b }, wait]')
    await startJob(app, scene.build, 'a')
    await runJob(app, scene.build, 'b')
    for (const name of ['a', 'b', 'waiter']) {
      const [url] = await scene.urls(name)
      const answer = await put(`${url}/reprioritize`, scene.admin.token, { priority: 1 })
      expect([name, answer.status]).toEqual([name, 422])
    }
  })
})

describe('PUT …/jobs/{job.id}/unblock', () => {
  const form = `
    - block: Release
      fields:
        - { text: Name, key: name, format: "[a-z]+" }
        - { select: Where, key: where, multiple: true, required: false, options: [{ label: A, value: a }, { label: B, value: b }] }
    - { command: ship }`

  it('unblocks with the answers as meta-data and the caller as unblocker', async () => {
    const scene = await aScene(form)
    const [, url] = await scene.urls('Release')
    const answer = await put(`${url}/unblock`, scene.admin.token, {
      fields: { name: 'glacier', where: ['a', 'b'] },
    })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      type: 'manual',
      label: 'Release',
      state: 'unblocked',
      unblockable: false,
      unblocked_by: { id: scene.admin.id, name: scene.admin.name, email: scene.admin.email },
      unblocked_at: expect.any(String),
    })
    expect(await statesOf(app, scene.build)).toMatchObject({ ship: 'scheduled' })
    const metaData = await app.db
      .selectFrom('build_meta_data')
      .select(['key', 'value'])
      .where('build_id', '=', scene.build.id)
      .orderBy('key')
      .execute()
    expect(metaData).toEqual([
      { key: 'name', value: 'glacier' },
      { key: 'where', value: 'a\nb' },
    ])
    expect(await auditTrail(app, scene.org, 'JOB_UNBLOCKED')).toHaveLength(1)
  })

  it('tells before which fields are asked for', async () => {
    const scene = await aScene(form)
    const [url] = await scene.urls('Release')
    const { body } = await get(url, scene.admin.token)
    const common = { hint: null, required: true }
    expect(body.fields).toEqual([
      { ...common, kind: 'text', key: 'name', label: 'Name', default: null, format: '[a-z]+' },
      {
        ...common,
        required: false,
        kind: 'select',
        key: 'where',
        label: 'Where',
        multiple: true,
        default: [],
        options: [
          { label: 'A', value: 'a', hint: null, required: null },
          { label: 'B', value: 'b', hint: null, required: null },
        ],
      },
    ])
    expect([body.prompt, body.submit]).toEqual([null, null])
  })

  it('records another member as unblocker, and answers 422 to anybody else', async () => {
    const scene = await aScene('[{ block: Go? }]')
    const [url] = await scene.urls('Go?')
    const member = await aMember(app, scene.org)
    const stranger = await aMember(app, await anOrganization(app))
    for (const unblocker of [stranger.id, newId(), 'somebody']) {
      const answer = await put(`${url}/unblock`, scene.admin.token, { unblocker })
      expect([answer.status, answer.body]).toEqual([
        422,
        { message: 'Unblocker is not a valid user id for this organization' },
      ])
    }
    const answer = await put(`${url}/unblock`, scene.admin.token, { unblocker: member.id })
    expect([answer.status, answer.body.unblocked_by.id]).toEqual([200, member.id])
  })

  it('answers a second time with the message that bk takes as done', async () => {
    const scene = await aScene('[{ block: Go? }]')
    const [url] = await scene.urls('Go?')
    expect((await put(`${url}/unblock`, scene.admin.token)).status).toBe(200)
    const again = await put(`${url}/unblock`, scene.admin.token)
    expect([again.status, again.body]).toEqual([422, { message: "The job's state must be blocked" }])
  })

  it('lets only administrators name another person as unblocker (abuse case R7)', async () => {
    const scene = await aScene('[{ block: Go? }]')
    const [url] = await scene.urls('Go?')
    const member = await aMember(app, scene.org)
    for (const unblocker of [scene.admin.id, scene.admin.id.toUpperCase(), newId()]) {
      const answer = await put(`${url}/unblock`, member.token, { unblocker })
      expect([answer.status, answer.body]).toEqual([
        403,
        { message: 'Only an administrator may name another person as the unblocker' },
      ])
    }
    const own = await put(`${url}/unblock`, member.token, { unblocker: member.id.toUpperCase() })
    expect([own.status, own.body.unblocked_by.id]).toEqual([200, member.id])
  })

  it('answers 422 to answers that the form does not take, and stays blocked', async () => {
    const scene = await aScene(form)
    const [url] = await scene.urls('Release')
    const wrong: Array<[fields: unknown, message: string]> = [
      [{}, 'name is required'],
      [{ name: 'UPPER' }, 'name does not have the expected format'],
      [{ name: 'x', where: 'c' }, 'where "c" is not one of the options'],
      [{ name: 'x', color: 'red' }, 'color is not a field of this step'],
      [{ name: ['x'] }, 'name takes a single text'],
    ]
    for (const [fields, message] of wrong) {
      const answer = await put(`${url}/unblock`, scene.admin.token, { fields })
      expect([answer.status, answer.body]).toEqual([422, { message }])
    }
    for (const fields of [5, { name: 5 }, { name: 'x'.repeat(200_000) }]) {
      expect((await put(`${url}/unblock`, scene.admin.token, { fields })).status).toBe(422)
    }
    expect(await statesOf(app, scene.build)).toMatchObject({ Release: 'blocked' })
  })

  it('answers 400 to a job that is no block and no input', async () => {
    const scene = await aScene('[{ command: a }, wait]')
    for (const name of ['a', 'waiter']) {
      const [url] = await scene.urls(name)
      const answer = await put(`${url}/unblock`, scene.admin.token)
      expect([answer.status, answer.body]).toEqual([400, { message: 'This job type cannot be unblocked' }])
    }
  })

  it('answers 422 to a job of a canceled build, and to one whose turn has not come', async () => {
    const scene = await aScene('[{ command: a }, { block: Go? }]')
    const [url] = await scene.urls('Go?')
    const early = await put(`${url}/unblock`, scene.admin.token)
    expect([early.status, early.body]).toEqual([
      422,
      { message: 'The steps in front of this one have not finished' },
    ])
    await applyEvent(app, scene.build, { type: 'cancel_build', reason: null })
    const late = await put(`${url}/unblock`, scene.admin.token)
    expect([late.status, late.body]).toEqual([
      422,
      { message: 'Jobs from canceled builds cannot be unblocked' },
    ])
  })

  it('lets one of two simultaneous requests win', async () => {
    const scene = await aScene('[{ block: Go? }, { command: a }]')
    const urls = await scene.urls('Go?')
    const answers = await Promise.all(
      [...urls, ...urls].map((url) => put(`${url}/unblock`, scene.admin.token)),
    )
    expect(sortedStatuses(answers)).toEqual([200, 422, 422, 422])
    expect(await statesOf(app, scene.build)).toEqual({ 'Go?': 'unblocked', a: 'scheduled' })
  })

  it('lets only members of the allowed teams unblock, even those who may otherwise only read', async () => {
    const scene = await aScene('[{ command: a }]')
    const reader = await aTeamMember(scene, 'read_only')
    const builder = await aTeamMember(scene, 'build_and_read')
    for (const name of [reader.team.slug, reader.team.id]) {
      const build = await aBuild(
        app,
        scene.org,
        await aPipelineFor(scene, reader, `[{ block: Go?, allowed_teams: ["${name}"] }]`),
      )
      const url = `${scene.org.path}/jobs/${await jobNamed(app, build, 'Go?')}`
      const unblock_teams = [reader.team.name]
      expect(await viewerOf(url, reader.token)).toEqual({ may: { unblock: true }, unblock_teams })
      expect(await viewerOf(url, scene.admin.token)).toEqual({ may: { unblock: false }, unblock_teams })
      const refused = await put(`${url}/unblock`, scene.admin.token)
      expect([refused.status, refused.body]).toEqual([
        403,
        { message: 'Only members of the teams that the step names may unblock it' },
      ])
      expect((await put(`${url}/unblock`, builder.token)).status).toBe(404)
      expect((await put(`${url}/unblock`, reader.token)).status).toBe(200)
    }
  })

  it('answers 403 to those who may only read, where the step names no teams', async () => {
    const scene = await aScene('[{ block: Go? }]')
    const reader = await aTeamMember(scene, 'read_only')
    const builder = await aTeamMember(scene, 'build_and_read')
    const [short, long] = await scene.urls('Go?')
    for (const url of [short, long]) {
      const unblock_teams: string[] = []
      expect(await viewerOf(url, reader.token)).toEqual({ may: { unblock: false }, unblock_teams })
      expect(await viewerOf(url, builder.token)).toEqual({ may: { unblock: true }, unblock_teams })
    }
    expect((await put(`${short}/unblock`, reader.token)).status).toBe(403)
    expect((await put(`${long}/unblock`, reader.token)).status).toBe(403)
    expect((await put(`${long}/unblock`, builder.token)).status).toBe(200)
  })

  it('is no right of anybody for a command, and the name of a secret team stays secret', async () => {
    const scene = await aScene('[{ command: a }]')
    const reader = await aTeamMember(scene, 'read_only')
    const { team: secret } = await aTeamMember(scene, null)
    await app.db.updateTable('teams').set({ privacy: 'secret' }).where('id', '=', secret.id).execute()
    const configuration = `[{ command: a }, { block: Go?, allowed_teams: ["${secret.id}", "no-such-team"] }]`
    const build = await aBuild(app, scene.org, await aPipelineFor(scene, reader, configuration))
    const url = async (name: string) => `${scene.org.path}/jobs/${await jobNamed(app, build, name)}`
    expect(await viewerOf(await url('a'), scene.admin.token)).toEqual({
      may: { unblock: false },
      unblock_teams: [],
    })
    const teamsFor = async (token: string) => (await viewerOf(await url('Go?'), token))['unblock_teams']
    expect(await teamsFor(reader.token)).toEqual([secret.id, 'no-such-team'])
    expect(await teamsFor(scene.admin.token)).toEqual([secret.name, 'no-such-team'])
    expect((await get(await url('Go?'), reader.token)).body).not.toHaveProperty('viewer')
  })

  const viewerOf = async (url: string, token: string) =>
    (await get(`${url}?include_viewer=true`, token)).body.viewer as Record<string, unknown>

  async function aPipelineFor(scene: Scene, reader: { team: { id: string } }, configuration: string) {
    const pipeline = await aPipeline(app, scene.org, configuration)
    await app.db
      .insertInto('team_pipelines')
      .values({
        team_id: reader.team.id,
        pipeline_id: pipeline.id,
        organization_id: scene.org.id,
        access_level: 'read_only',
      })
      .execute()
    return pipeline
  }
})

describe('PUT …/jobs/{job.id}/cancel', () => {
  it('cancels a job that has not started, and its build fails', async () => {
    const scene = await aScene('[{ command: a }]')
    const [, url] = await scene.urls('a')
    const answer = await put(`${url}/cancel`, scene.admin.token)
    expect([answer.status, answer.body.state]).toEqual([200, 'canceled'])
    expect(await buildState(app, scene.build)).toBe('failed')
    expect(await auditTrail(app, scene.org, 'JOB_CANCELED')).toHaveLength(1)
  })

  it('asks the agent of a running job to stop it', async () => {
    const scene = await aScene('[{ command: a }]')
    const [url] = await scene.urls('a')
    await startJob(app, scene.build, 'a')
    const answer = await put(`${url}/cancel`, scene.admin.token)
    expect([answer.status, answer.body.state]).toEqual([200, 'canceling'])
    const again = await put(`${url}/cancel`, scene.admin.token)
    expect([again.status, again.body]).toEqual([422, { message: 'The job is already being stopped' }])
  })

  it('answers 422 to a job that has ended', async () => {
    const scene = await aScene('[{ command: a }]')
    const [url] = await scene.urls('a')
    await runJob(app, scene.build, 'a')
    const answer = await put(`${url}/cancel`, scene.admin.token)
    expect([answer.status, answer.body]).toEqual([422, { message: 'The job has already finished' }])
  })

  it('answers 403 to those who may only read the pipeline', async () => {
    const scene = await aScene('[{ command: a }]')
    const reader = await aTeamMember(scene, 'read_only')
    for (const url of await scene.urls('a'))
      expect((await put(`${url}/cancel`, reader.token)).status).toBe(403)
  })
})

describe('GET …/jobs/{job.id}/env', () => {
  it('puts together what the pipeline, the build and the step say, and the standard variables', async () => {
    const scene = await aScene(`
      env: { A: stored, B: stored, C: stored }
      steps: [{ command: make, env: { C: step, BUILDKITE_BRANCH: mine } }]`)
    const build = await aBuild(app, scene.org, scene.pipeline, {
      env: { B: 'build', BUILDKITE: 'no' },
      creatorId: scene.admin.id,
    })
    const id = await jobNamed(app, build, 'make')
    const answer = await get(`${scene.org.path}/jobs/${id}/env`, scene.admin.token)
    expect(answer.status).toBe(200)
    expect(answer.body.env).toMatchObject({
      A: 'stored',
      B: 'build',
      C: 'step',
      CI: 'true',
      BUILDKITE: 'true',
      BUILDKITE_BRANCH: 'main',
      BUILDKITE_COMMAND: 'make',
      BUILDKITE_JOB_ID: id,
      BUILDKITE_BUILD_NUMBER: String(build.number),
      BUILDKITE_BUILD_URL: `${baseUrl}/${scene.org.slug}/${scene.pipeline.slug}/builds/${build.number}`,
      BUILDKITE_BUILD_CREATOR_EMAIL: scene.admin.email,
      BUILDKITE_BUILD_AUTHOR: scene.admin.name,
      BUILDKITE_ORGANIZATION_SLUG: scene.org.slug,
      BUILDKITE_PIPELINE_SLUG: scene.pipeline.slug,
      BUILDKITE_PULL_REQUEST: 'false',
      BUILDKITE_TIMEOUT: 'false',
      BUILDKITE_RETRY_COUNT: '0',
    })
    expect(answer.body.env).not.toHaveProperty('BUILDKITE_AGENT_ACCESS_TOKEN')
  })

  it('names the group, and the person who unblocked the build last', async () => {
    const scene = await aScene('[{ block: Go? }, { group: Deploy, key: d, steps: [{ command: ship }] }]')
    const [go] = await scene.urls('Go?')
    await put(`${go}/unblock`, scene.admin.token)
    const [url] = await scene.urls('ship')
    const { env } = (await get(`${url}/env`, scene.admin.token)).body
    expect(env).toMatchObject({
      BUILDKITE_GROUP_LABEL: 'Deploy',
      BUILDKITE_GROUP_KEY: 'd',
      BUILDKITE_UNBLOCKER_ID: scene.admin.id,
    })
  })

  it('answers with lines to those who accept text/plain or ask for env.txt', async () => {
    const scene = await aScene('[{ command: make, env: { LINES: "a\\nFORGED=1", PLAIN: b c } }]')
    for (const url of await scene.urls('make')) {
      const answers = [
        await app.request('GET', `${url}/env`, {
          token: scene.admin.token,
          headers: { Accept: 'text/plain' },
        }),
        await get(`${url}/env.txt`, scene.admin.token),
      ]
      for (const answer of answers) {
        expect([answer.status, answer.headers.get('content-type')]).toEqual([
          200,
          'text/plain; charset=utf-8',
        ])
        const lines = answer.text.split('\n')
        expect(lines).toContain('LINES="a\\nFORGED=1"')
        expect(lines).toContain('PLAIN=b c')
        expect(lines).not.toContain('FORGED=1')
      }
    }
  })

  it('is empty for a job that runs no command', async () => {
    const scene = await aScene('[{ block: Go? }]')
    const [url] = await scene.urls('Go?')
    expect((await get(`${url}/env`, scene.admin.token)).body).toEqual({ env: {} })
  })

  it('answers 403 to a token without the read_job_env scope', async () => {
    const scene = await aScene('[{ command: make }]')
    const token = await aToken(app, scene.admin, { scopes: ['read_builds'] })
    const [url] = await scene.urls('make')
    const answer = await get(`${url}/env`, token)
    expect([answer.status, answer.body.message]).toEqual([
      403,
      "Your access token doesn't have the read_job_env scope",
    ])
  })
})

describe.each([
  ['ssh-session', 'SSH'],
  ['vnc-session', 'VNC'],
])('POST /organizations/{org.slug}/jobs/{job.id}/%s', (name, protocol) => {
  it('says why there is none, to who may build the pipeline', async () => {
    const { org, admin, build, urls } = await aScene('steps: [{ command: a }]')
    await startJob(app, build, 'a')
    const [path] = await urls('a')
    const ask = (token: string, at = path) => app.request('POST', `${at}/${name}`, { token })
    const message = `Millrace opens no ${protocol} sessions with the machines of jobs. Sign in to the agent’s machine instead.`
    expect(await ask(admin.token)).toMatchObject({ status: 422, body: { message } })
    expect((await ask(admin.token, `${org.path}/jobs/${newId()}`)).body).toEqual({ message: 'No job found' })
    const stranger = await anAdmin(app, await anOrganization(app))
    expect((await ask(stranger.token)).status).toBe(404)
    expect((await ask(await aToken(app, admin, { scopes: ['read_builds'] }))).status).toBe(403)
  })
})

describe('a job whose step depends on a key that no step has', () => {
  it('says so when nothing else is left to run', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const pipeline = await aPipeline(
      app,
      org,
      '[{command: a, key: a}, {command: b, depends_on: [nope, a]}, {command: c, depends_on: b2}]',
    )
    const build = await aBuild(app, org, pipeline)
    await runJob(app, build, 'a')
    const { body } = await app.request('GET', `${pipeline.path}/builds/${build.number}`, {
      token: admin.token,
    })
    const jobs = body.jobs as unknown as Array<{ command: string; state: string; state_reason?: string }>
    expect([
      body['state'],
      ...jobs.map(({ command, state, state_reason }) => [command, state, state_reason]),
    ]).toEqual([
      'failed',
      ['a', 'passed', undefined],
      ['b', 'waiting_failed', 'No step has the key "nope"'],
      ['c', 'waiting_failed', 'No step has the key "b2"'],
    ])
  })
})

describe('GET /v2/organizations/{org.slug}/jobs', () => {
  const steps = 'steps: [{command: one}, {command: two, agents: {os: linux}}, {block: Ship}]'

  it('lists jobs, those of the newest build first, by state, type and rules', async () => {
    const { org, admin, pipeline, build } = await aScene(steps)
    const newer = await aBuild(app, org, pipeline)
    const list = async (query: string) => {
      const answer = await app.request('GET', `${org.path}/jobs${query}`, { token: admin.token })
      expect(answer.status).toBe(200)
      return answer.list.map((job) => [
        Number(String(job.build_url).split('/').at(-1)),
        job.command ?? job.label,
      ])
    }
    expect(await list('')).toEqual([
      [newer.number, 'Ship'],
      [newer.number, 'two'],
      [newer.number, 'one'],
      [build.number, 'Ship'],
      [build.number, 'two'],
      [build.number, 'one'],
    ])
    expect(await list('?type=manual')).toEqual([
      [newer.number, 'Ship'],
      [build.number, 'Ship'],
    ])
    expect(await list('?agent_query_rules[]=os=linux&per_page=1')).toEqual([[newer.number, 'two']])
    await runJob(app, build, 'one', 1)
    expect(await list('?state[]=passed&state[]=failed')).toEqual([[build.number, 'one']])
    expect((await list('?state=scheduled')).length).toBe(3)
    expect(await list(`?cluster_queue_id=${newId()}`)).toEqual([])
    expect(await list('?cluster_queue_id=nonsense')).toEqual([])
  })

  it('shows only jobs of pipelines that the caller may read', async () => {
    const { org, admin, pipeline } = await aScene(steps)
    await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
    const member = await aMember(app, org)
    const seen = async () =>
      (await app.request('GET', `${org.path}/jobs`, { token: member.token })).list.length
    expect(await seen()).toBe(0)
    const team = await aTeam(app, org, admin)
    await inTeam(app, team, admin, member)
    const body = { pipeline_id: pipeline.id, access_level: 'read_only' }
    await app.request('POST', `${team.path}/pipelines`, { token: admin.token, body })
    expect(await seen()).toBe(3)
  })

  it('refuses unknown states and pages that begin too late', async () => {
    const { org, admin } = await aScene('steps: []')
    const ask = (query: string) => app.request('GET', `${org.path}/jobs?${query}`, { token: admin.token })
    expect((await ask('state=asleep')).status).toBe(400)
    expect((await ask('page=102&per_page=100')).status).toBe(400)
  })
})
