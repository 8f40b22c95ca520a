import { describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import { aMember, anAdmin, anOrganization, aPipeline, aToken } from '../../../../test/builders.ts'
import { newId } from '../../../lib/ids.ts'

const app = useApp()
const configuration = 'steps: [{command: a}]'
const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs

interface Given {
  number: number
  state: string
  createdMs: number
  seconds?: number
  env?: Record<string, string>
}

async function insertBuilds(orgId: string, pipelineId: string, builds: readonly Given[]): Promise<void> {
  await app.db
    .insertInto('builds')
    .values(
      builds.map(({ number, state, createdMs, seconds, env = {} }) => ({
        id: newId(),
        organization_id: orgId,
        pipeline_id: pipelineId,
        number,
        state,
        shown_state: state,
        message: `build ${number}`,
        commit: 'a'.repeat(40),
        branch: 'main',
        source: 'api',
        env: JSON.stringify(env),
        created_at: new Date(createdMs).toISOString(),
        scheduled_at: new Date(createdMs).toISOString(),
        started_at: seconds === undefined ? null : new Date(createdMs).toISOString(),
        finished_at: seconds === undefined ? null : new Date(createdMs + seconds * 1000).toISOString(),
      })),
    )
    .execute()
}

const ask = (path: string, token: string, query = '') =>
  app.request('GET', `${path}/pipeline-trends${query}`, { token })

describe('GET /v2/organizations/{org.slug}/pipeline-trends', () => {
  it('has the last 30 builds oldest first, the median, its change, and the reliability', async () => {
    const org = await anOrganization(app)
    const { token } = await anAdmin(app, org)
    const pipeline = await aPipeline(app, org, configuration)
    const now = Date.now()
    const recent = Array.from({ length: 39 }, (_, index) => ({
      number: 11 + index,
      state: index % 4 === 0 ? 'failed' : 'passed',
      createdMs: now - 10 * dayMs + index * hourMs,
      seconds: 90,
    }))
    const earlier = Array.from({ length: 10 }, (_, index) => ({
      number: 1 + index,
      state: 'passed',
      createdMs: now - 45 * dayMs + index * hourMs,
      seconds: 100,
    }))
    await insertBuilds(org.id, pipeline.id, [
      ...earlier,
      ...recent,
      { number: 50, state: 'running', createdMs: now - hourMs },
      // Builds of work trees that are not committed do not count.
      { number: 51, state: 'failed', createdMs: now, seconds: 1, env: { BUILDKITE_PREFLIGHT: 'true' } },
    ])
    const { list, status } = await ask(org.path, token)
    expect(status).toBe(200)
    expect(list).toEqual([
      {
        pipeline_id: pipeline.id,
        pipeline_slug: pipeline.slug,
        builds: expect.any(Array),
        median_seconds: 90,
        median_change: -0.1,
        reliability: 0.7436,
        running: 0,
      },
    ])
    const builds = list[0]?.['builds'] as unknown as Array<Record<string, unknown>>
    expect(builds.map(({ number }) => number)).toEqual(Array.from({ length: 30 }, (_, index) => 21 + index))
    expect(builds.at(-2)).toEqual({
      number: 49,
      state: 'passed',
      blocked: false,
      seconds: 90,
      created_at: recent.at(-1)?.createdMs,
      message: 'build 49',
      branch: 'main',
    })
    expect(builds.at(-1)).toMatchObject({ state: 'running', seconds: null })
  })

  it('has nulls for a pipeline without builds', async () => {
    const org = await anOrganization(app)
    const { token } = await anAdmin(app, org)
    await aPipeline(app, org, configuration)
    const { list } = await ask(org.path, token)
    expect(list).toMatchObject([{ builds: [], median_seconds: null, median_change: null, reliability: null }])
  })

  it('takes slugs, of which unknown ones are left out, and refuses more than 200', async () => {
    const org = await anOrganization(app)
    const { token } = await anAdmin(app, org)
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => aPipeline(app, org, configuration)))
    const { list } = await ask(
      org.path,
      token,
      `?pipeline=${third?.slug}&pipeline=${first?.slug}&pipeline=none`,
    )
    expect(new Set(list.map(({ pipeline_slug: slug }) => slug))).toEqual(new Set([first?.slug, third?.slug]))
    expect(second).toBeDefined()
    const many = Array.from({ length: 201 }, (_, index) => `pipeline=p${index}`).join('&')
    expect((await ask(org.path, token, `?${many}`)).status).toBe(400)
  })

  it('is paged without slugs', async () => {
    const org = await anOrganization(app)
    const { token } = await anAdmin(app, org)
    for (let count = 0; count < 3; count++) await aPipeline(app, org, configuration)
    const first = await ask(org.path, token, '?per_page=2')
    expect([first.list.length, first.headers.get('link')]).toEqual([2, expect.stringContaining('rel="next"')])
    expect((await ask(org.path, token, '?per_page=2&page=2')).list).toHaveLength(1)
  })

  it('has the name and marks of pipelines when they are asked for', async () => {
    const org = await anOrganization(app)
    const { token } = await anAdmin(app, org)
    const { token: other } = await aMember(app, org)
    const { id, slug } = await aPipeline(app, org, configuration)
    const path = `${org.path}/pipelines/${slug}`
    const marks = { name: 'The "web"', emoji: ':rocket:', color: '#a1b2c3', tags: ['web', 'a "b"'] }
    expect((await app.request('PATCH', path, { token, body: marks })).status).toBe(200)
    await app.request('PUT', `/v2/user/favorites/${id}`, { token })
    const first = async (as: string, query: string) => (await ask(org.path, as, query)).list[0]
    const asked = '?include_pipeline=true&per_page=500'
    expect(await first(token, asked)).toMatchObject({ pipeline: { ...marks, favorite: true } })
    expect(await first(other, asked)).toMatchObject({ pipeline: { favorite: false } })
    expect(await first(token, '')).not.toHaveProperty('pipeline')
  })

  it('has up to 500 pipelines on a page', async () => {
    const org = await anOrganization(app)
    const { token } = await anAdmin(app, org)
    await aPipeline(app, org, configuration)
    const { headers, list } = await ask(org.path, token, '?per_page=10000&page=2')
    expect([list, headers.get('link')]).toEqual([[], expect.stringContaining('per_page=500')])
  })

  it('never has hidden pipelines or those of other organizations', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const member = await aMember(app, org)
    const hidden = await aPipeline(app, org, configuration)
    const open = await aPipeline(app, org, configuration, { visibility: 'public' })
    await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
    const other = await anOrganization(app)
    const foreign = await aPipeline(app, other, configuration)
    const slugs = `?pipeline=${hidden.slug}&pipeline=${open.slug}&pipeline=${foreign.slug}`
    for (const query of ['', slugs])
      expect((await ask(org.path, member.token, query)).list.map(({ pipeline_id: id }) => id)).toEqual([
        open.id,
      ])
    expect((await ask(other.path, member.token)).status).toBe(404)
    const narrow = await aToken(app, admin, { scopes: ['read_pipelines'] })
    expect((await ask(org.path, narrow)).status).toBe(403)
  })
})
