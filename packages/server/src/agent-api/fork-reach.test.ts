// Abuse case R8: what the token of a fork's job reaches, route by route, and which other builds a trusted job may read.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { aRunningJob, type RunningScene } from '../../test/job-runs.ts'
import { useApp } from '../../test/app.ts'
import { aMember, aTeam, inTeam } from '../../test/builders.ts'
import { agentApiRoutes } from '../app.ts'

const app = useApp()

const fork = { id: '7', base: 'main', repository: null, labels: [], draft: false, fork: true }

let forked: RunningScene
let neighbour: RunningScene
beforeAll(async () => {
  forked = await aRunningJob(app)
  neighbour = await aRunningJob(app, undefined, forked)
  await setBuild(forked, { pull_request: JSON.stringify(fork) })
  await neighbour.run.call('POST', `jobs/${neighbour.run.id}/data/set`, {
    body: { key: 'k', value: 'theirs' },
  })
})

const setBuild = (scene: RunningScene, set: object) =>
  app.db.updateTable('builds').set(set).where('id', '=', scene.build.id).execute()

const pathOf = (url: string, { run, build }: RunningScene) =>
  url
    .replace('/v3/', '')
    .replace(':job', run.id)
    .replace(':build', build.id)
    .replace(':registry', 'default')
    .replace(':step', 'one')
    .replace(':context', 'default')
    .replace(':upload', randomUUID())

const ofJobs = agentApiRoutes.filter(({ token }) => ['job', 'ended_job', 'session_or_job'].includes(token))
const named = (routes: typeof ofJobs) =>
  routes.map((route) => [`${route.method} ${route.url}`, route] as const)
const isRefused = ({ forks }: (typeof ofJobs)[number]) => typeof forks === 'object' && forks !== null

describe('abuse case R8: the token of a fork’s job', () => {
  it('meets a rule of its own on every route that takes tokens of jobs', () => {
    expect(ofJobs.filter(({ forks }) => forks === null)).toEqual([])
    expect(ofJobs.filter(isRefused).map(({ url }) => url.replace('/v3/', ''))).toEqual(
      expect.arrayContaining(['stop', 'pause', 'resume', 'jobs/:job/secrets', 'jobs/:job/oidc/tokens']),
    )
  })

  it.each(named(ofJobs.filter(isRefused)))('is 403 at %s', async (_, route) => {
    const answer = await forked.run.call(route.method, pathOf(route.url, forked), { body: {} })
    expect([answer.status, answer.body.message]).toEqual([
      403,
      expect.stringMatching(/^Builds of pull requests from forks get no /),
    ])
  })

  it.each(named(ofJobs.filter(({ url }) => url.includes(':build'))))(
    'reaches no other build at %s',
    async (_, route) => {
      const path = pathOf(route.url, neighbour)
      const answer = await forked.run.call(
        route.method,
        path,
        route.method === 'GET' ? {} : { body: { key: 'k' } },
      )
      expect([404, 403]).toContain(answer.status)
    },
  )

  it('does not read the steps of another build', async () => {
    const body = { attribute: 'label', build_id: neighbour.build.id }
    expect((await forked.run.call('POST', 'steps/one/export', { body })).status).toBe(404)
  })

  it('leaves its agent as it was', async () => {
    await forked.run.call('POST', 'pause', { body: { timeout_in_minutes: 1440 } })
    await forked.run.call('POST', 'stop', { body: { force: true } })
    const agent = await app.db
      .selectFrom('agents')
      .select(['paused_at', 'connection_state'])
      .where('id', '=', forked.run.agent.id)
      .executeTakeFirstOrThrow()
    expect(agent).toEqual({ paused_at: null, connection_state: 'connected' })
  })

  it('still reaches its own build', async () => {
    const item = { key: 'own', value: 'x' }
    expect((await forked.run.call('POST', `jobs/${forked.run.id}/data/set`, { body: item })).status).toBe(200)
    const got = await forked.run.call('POST', `builds/${forked.build.id}/data/get`, { body: { key: 'own' } })
    expect(got.body).toEqual(item)
  })
})

describe('abuse case R8: the token of a trusted job', () => {
  const read = async (reader: RunningScene, other: RunningScene) => [
    (await reader.run.call('POST', `builds/${other.build.id}/data/keys`)).status,
    (await reader.run.call('GET', `builds/${other.build.id}/artifacts/search?query=*`)).status,
  ]

  it('reads builds of its cluster where there are no teams', async () => {
    const own = await aRunningJob(app)
    const other = await aRunningJob(app, undefined, own)
    expect(await read(own, other)).toEqual([200, 200])
    expect((await own.run.call('POST', 'pause', { body: {} })).status).toBe(200)
  })

  it('reads where teams are on what its creator may read, or what shares a team with its pipeline', async () => {
    const own = await aRunningJob(app)
    const other = await aRunningJob(app, undefined, own)
    const { org } = own
    await app.db
      .updateTable('organizations')
      .set({ teams_enabled_at: new Date().toISOString() })
      .where('id', '=', org.id)
      .execute()
    expect(await read(own, other)).toEqual([404, 404])

    const team = await aTeam(app, org, own.admin)
    for (const scene of [own, other]) {
      await app.db
        .insertInto('team_pipelines')
        .values({
          organization_id: org.id,
          team_id: team.id,
          pipeline_id: scene.pipeline.id,
          access_level: 'read_only',
        })
        .execute()
    }
    expect(await read(own, other)).toEqual([200, 200])

    const member = await aMember(app, org)
    await setBuild(own, { creator_id: member.id })
    expect(await read(own, other)).toEqual([404, 404])
    await inTeam(app, team, own.admin, member)
    expect(await read(own, other)).toEqual([200, 200])
  })

  it('reads the build that triggered its own, whatever the teams', async () => {
    const own = await aRunningJob(app)
    const parent = await aRunningJob(app, undefined, own)
    await app.db
      .updateTable('organizations')
      .set({ teams_enabled_at: new Date().toISOString() })
      .where('id', '=', own.org.id)
      .execute()
    await setBuild(own, { triggered_from: JSON.stringify({ build_id: parent.build.id }) })
    expect(await read(own, parent)).toEqual([200, 200])
  })
})
