import { beforeAll, describe, expect, it } from 'vitest'
import { sortedStatuses, useApp } from '../../../../test/app.ts'
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
import { aBuild, jobNamed } from '../../../../test/runs.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { newId } from '../../../lib/ids.ts'
import * as annotations from './queries.ts'

const app = useApp()

let org: TestOrganization
let admin: TestUser
beforeAll(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
})

async function aScene() {
  const pipeline = await aPipeline(app, org, '[{ command: a }, { command: b }]')
  const build = await aBuild(app, org, pipeline)
  const path = `${pipeline.path}/builds/${build.number}`
  const [a, b] = [await jobNamed(app, build, 'a'), await jobNamed(app, build, 'b')]
  return {
    pipeline,
    build,
    path,
    ofJob: `${org.path}/jobs/${a}/annotations`,
    ofBuild: `${path}/annotations`,
    a,
    b,
  }
}

const post = (path: string, body: unknown, token = admin.token) => app.request('POST', path, { token, body })
const get = (path: string, token = admin.token) => app.request('GET', path, { token })
const remove = (path: string, token = admin.token) => app.request('DELETE', path, { token })

describe('POST /organizations/{org.slug}/pipelines/{pipeline.slug}/builds/{number}/annotations', () => {
  it('annotates the build', async () => {
    const { ofBuild } = await aScene()
    const answer = await post(ofBuild, {
      body: 'All *good* <script>x</script>',
      style: 'success',
      context: 'tests',
      priority: 7,
    })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      id: expect.any(String),
      context: 'tests',
      style: 'success',
      scope: 'build',
      job_id: null,
      priority: 7,
      body_html: '<p>All <em>good</em> </p>\n',
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    expect(await auditTrail(app, org, 'ANNOTATION_CREATED')).toContainEqual(
      expect.objectContaining({ subject: { type: 'Annotation', uuid: answer.body.id, name: 'tests' } }),
    )
  })

  it('has the context default, the priority 3 and no style by default', async () => {
    const { ofBuild } = await aScene()
    const answer = await post(ofBuild, { body: 'x' })
    expect(answer.body).toMatchObject({ context: 'default', priority: 3, style: null })
  })

  it('replaces the annotation of the same context, or appends to it', async () => {
    const { ofBuild } = await aScene()
    const first = await post(ofBuild, { body: 'one', style: 'info', priority: 9 })
    const appended = await post(ofBuild, { body: ' two', append: true })
    expect(appended.body).toMatchObject({
      id: first.body.id,
      style: 'info',
      priority: 9,
      body_html: '<p>one two</p>\n',
    })
    const replaced = await post(ofBuild, { body: 'three', style: 'error' })
    expect(replaced.body).toMatchObject({
      id: first.body.id,
      style: 'error',
      priority: 9,
      body_html: '<p>three</p>\n',
    })
    const other = await post(ofBuild, { body: 'four', context: 'other', append: true })
    expect(other.body.id).not.toBe(first.body.id)
    expect((await get(ofBuild)).list).toHaveLength(2)
  })

  it('loses nothing when several append at once', async () => {
    const { ofBuild } = await aScene()
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => post(ofBuild, { body: `line${index};`, append: true })),
    )
    expect(sortedStatuses(answers)).toEqual(Array.from({ length: 8 }, () => 201))
    const { list } = await get(ofBuild)
    expect(list).toHaveLength(1)
    for (let index = 0; index < 8; index++) expect(String(list[0]?.body_html)).toContain(`line${index};`)
  })

  it('takes a body of 1 MiB and answers 422 to more, also by appending', async () => {
    const { ofBuild } = await aScene()
    const full = '<p>'.padEnd(1024 * 1024, 'x')
    expect((await post(ofBuild, { body: full })).status).toBe(201)
    const longer = await post(ofBuild, { body: `${full}y` })
    expect([longer.status, longer.body]).toEqual([
      422,
      { message: 'Validation failed: body must have at most 1 MiB' },
    ])
    expect((await post(ofBuild, { body: 'y', append: true })).status).toBe(422)
  })

  it('answers 422 to a missing body, an unknown style, and a context or priority out of range', async () => {
    const { ofBuild } = await aScene()
    for (const body of [
      {},
      { body: '' },
      { body: 5 },
      { body: 'x', style: 'loud' },
      { body: 'x', priority: 0 },
      { body: 'x', priority: 11 },
      { body: 'x', priority: 1.5 },
      { body: 'x', context: 'c'.repeat(101) },
      { body: 'x', append: 'yes' },
    ]) {
      const answer = await post(ofBuild, body)
      expect([answer.status, String(answer.body.message)]).toEqual([
        422,
        expect.stringMatching(/^Validation failed: /),
      ])
    }
    expect((await get(ofBuild)).list).toEqual([])
  })

  it('answers 404 to a build the pipeline does not have', async () => {
    const { pipeline } = await aScene()
    const answer = await post(`${pipeline.path}/builds/77/annotations`, { body: 'x' })
    expect([answer.status, answer.body]).toEqual([404, { message: 'No build found' }])
  })
})

describe('GET /organizations/{org.slug}/pipelines/{pipeline.slug}/builds/{number}/annotations', () => {
  it('lists those of the build, those of its jobs or all, the most important first', async () => {
    const { ofBuild, ofJob } = await aScene()
    await post(ofBuild, { body: 'low', context: 'low', priority: 1 })
    await post(ofBuild, { body: 'high', context: 'high', priority: 10 })
    await post(ofJob, { body: 'job', context: 'job' })
    const contexts = async (query: string) =>
      (await get(`${ofBuild}${query}`)).list.map(({ context }) => context)
    expect(await contexts('')).toEqual(['high', 'low'])
    expect(await contexts('?scope=build')).toEqual(['high', 'low'])
    expect(await contexts('?scope=job')).toEqual(['job'])
    expect(await contexts('?scope=all')).toEqual(['high', 'job', 'low'])
    expect(await contexts('?scope=all&per_page=2&page=2')).toEqual(['low'])
  })

  it('leaves out the bodies when asked to', async () => {
    const { ofBuild } = await aScene()
    await post(ofBuild, { body: 'x' })
    const [annotation] = (await get(`${ofBuild}?omit_body=true`)).list
    expect(annotation).toMatchObject({ context: 'default' })
    expect(annotation).not.toHaveProperty('body_html')
    expect((await get(`${ofBuild}?omit_body=false`)).list[0]).toHaveProperty('body_html')
  })

  it('answers 422 to an unknown scope', async () => {
    const { ofBuild } = await aScene()
    const answer = await get(`${ofBuild}?scope=world`)
    expect([answer.status, answer.body]).toEqual([
      422,
      { message: 'Validation failed: scope "world" is none of build, job and all' },
    ])
  })
})

describe('DELETE /organizations/{org.slug}/pipelines/{pipeline.slug}/builds/{number}/annotations/{uuid}', () => {
  it('deletes an annotation of the build or of one of its jobs', async () => {
    const { ofBuild, ofJob } = await aScene()
    const [one, two] = [await post(ofBuild, { body: 'x' }), await post(ofJob, { body: 'y' })]
    expect((await remove(`${ofBuild}/${one.body.id}`)).status).toBe(204)
    expect((await remove(`${ofBuild}/${two.body.id}`)).status).toBe(204)
    expect((await get(`${ofBuild}?scope=all`)).list).toEqual([])
    const trail = await auditTrail(app, org, 'ANNOTATION_DELETED')
    for (const { id } of [one.body, two.body])
      expect(trail).toContainEqual(
        expect.objectContaining({ subject: { type: 'Annotation', uuid: id, name: 'default' } }),
      )
  })

  it('answers 404 to one that is gone, never was, or belongs to another build', async () => {
    const [mine, other] = [await aScene(), await aScene()]
    const { body } = await post(other.ofBuild, { body: 'x' })
    for (const id of [body.id, newId(), 'nothing']) {
      const answer = await remove(`${mine.ofBuild}/${id}`)
      expect([answer.status, answer.body]).toEqual([404, { message: 'No annotation found' }])
    }
    const answers = await Promise.all([1, 2].map(() => remove(`${other.ofBuild}/${body.id}`)))
    expect(sortedStatuses(answers)).toEqual([204, 404])
  })
})

describe('…/jobs/{job.id}/annotations', () => {
  it('makes, lists and deletes annotations of one job, at both addresses', async () => {
    const { path, a, b } = await aScene()
    for (const root of [`${org.path}/jobs/${a}/annotations`, `${path}/jobs/${b}/annotations`]) {
      const made = await post(root, { body: 'x', context: 'c' })
      expect(made.status).toBe(201)
      expect(made.body).toMatchObject({ scope: 'job', context: 'c', job_id: root.includes(a) ? a : b })
      expect((await post(root, { body: 'y', context: 'c' })).body.id).toBe(made.body.id)
      expect((await get(root)).list.map(({ body_html }) => body_html)).toEqual(['<p>y</p>\n'])
      expect((await remove(`${root}/${made.body.id}`)).status).toBe(204)
      expect((await get(root)).list).toEqual([])
    }
  })

  it('answers 404 to a job or an annotation of another build', async () => {
    const [mine, other] = [await aScene(), await aScene()]
    const { body } = await post(other.ofJob, { body: 'x' })
    expect((await remove(`${mine.ofJob}/${body.id}`)).status).toBe(404)
    const crossed = await get(`${mine.path}/jobs/${other.a}/annotations`)
    expect([crossed.status, crossed.body]).toEqual([404, { message: 'No job found' }])
    const stranger = await anAdmin(app, await anOrganization(app))
    expect((await get(other.ofJob, stranger.token)).status).toBe(404)
  })

  it('answers 403 to a token without the scope, and to those who may only read the pipeline', async () => {
    const own = await anOrganization(app)
    const owner = await anAdmin(app, own)
    const pipeline = await aPipeline(app, own, '[{ command: a }]')
    const build = await aBuild(app, own, pipeline)
    const team = await aTeam(app, own, owner)
    await app.db
      .updateTable('organizations')
      .set({ teams_enabled_at: new Date().toISOString() })
      .where('id', '=', own.id)
      .execute()
    const reader = await aMember(app, own)
    await inTeam(app, team, owner, reader)
    await app.db
      .insertInto('team_pipelines')
      .values({
        team_id: team.id,
        pipeline_id: pipeline.id,
        organization_id: own.id,
        access_level: 'read_only',
      })
      .execute()
    const weak = await aToken(app, owner, { scopes: ['read_builds'] })
    const roots = [
      `${own.path}/jobs/${await jobNamed(app, build, 'a')}`,
      `${pipeline.path}/builds/${build.number}`,
    ]
    for (const root of roots) {
      expect((await get(`${root}/annotations`, reader.token)).status).toBe(200)
      expect((await post(`${root}/annotations`, { body: 'x' }, reader.token)).status).toBe(403)
      expect((await remove(`${root}/annotations/${newId()}`, reader.token)).status).toBe(403)
      expect((await post(`${root}/annotations`, { body: 'x' }, weak)).status).toBe(403)
    }
  })
})

describe('the HTML of annotations', () => {
  const stored = async (buildId: string) =>
    app.db
      .selectFrom('annotations')
      .select(['id', 'body', 'body_html', 'body_html_of'])
      .where('build_id', '=', buildId)
      .orderBy('context')
      .execute()

  it('is stored when the annotation is written, replaced and appended to', async () => {
    const { ofBuild, build } = await aScene()
    const html = async () => (await stored(build.id)).map(({ body_html }) => body_html)
    await post(ofBuild, { body: '*a* :tada:' })
    expect(await html()).toEqual(['<p><em>a</em> 🎉</p>\n'])
    await post(ofBuild, { body: ' *b*', append: true })
    expect(await html()).toEqual(['<p><em>a</em> 🎉 <em>b</em></p>\n'])
    await post(ofBuild, { body: 'c' })
    expect(await html()).toEqual(['<p>c</p>\n'])
  })

  it('is not stored once another body is written, also in the same millisecond', async () => {
    const { ofBuild, build } = await aScene()
    const owner = { organizationId: org.id, buildId: build.id, jobId: null }
    const given = {
      context: 'default',
      style: undefined,
      priority: undefined,
      append: true,
      writerJobId: null,
    }
    const [first, second] = await inTransaction(app.db, async (trx) => [
      await annotations.put(trx, owner, { ...given, id: newId(), body: 'one ' }),
      await annotations.put(trx, owner, { ...given, id: newId(), body: 'two' }),
    ])
    await annotations.storeHtml(app.db, owner, second, '<p>one two</p>')
    await annotations.storeHtml(app.db, owner, first, '<p>one</p>')
    expect((await get(ofBuild)).list).toMatchObject([{ body_html: '<p>one two</p>' }])
  })

  it('is made at the first read, and stored, for what was written without it or changed since', async () => {
    const { ofBuild, build } = await aScene()
    await post(ofBuild, { body: 'a', context: 'a' })
    await post(ofBuild, { body: 'b', context: 'b' })
    const [a, b] = await stored(build.id)
    await app.db
      .updateTable('annotations')
      .set({ body_html: null, body_html_of: null })
      .where('id', '=', a?.id ?? '')
      .execute()
    // As a server does that knows nothing of the HTML.
    await app.db
      .updateTable('annotations')
      .set({ body: '*new*', updated_at: new Date().toISOString() })
      .where('id', '=', b?.id ?? '')
      .execute()
    const shown = async () => (await get(ofBuild)).list.map(({ body_html }) => body_html)
    expect(await shown()).toEqual(['<p>a</p>\n', '<p><em>new</em></p>\n'])
    const after = await stored(build.id)
    expect(after.map(({ body_html }) => body_html)).toEqual(['<p>a</p>\n', '<p><em>new</em></p>\n'])
    expect(await shown()).toEqual(['<p>a</p>\n', '<p><em>new</em></p>\n'])
  })

  it('abuse cases R5 and R22: is the source only for a body that takes too much processor time', async () => {
    const { ofBuild, build } = await aScene()
    const { body } = await post(ofBuild, { body: '_a'.repeat(400_000) })
    expect(String(body['body_html']).slice(0, 9)).toBe('<pre>_a_a')
    expect((await stored(build.id))[0]?.body_html?.slice(0, 9)).toBe('<pre>_a_a')
    // The thread was ended, so a small body pays for loading the renderer into a new one.
    await post(ofBuild, { body: 'small', context: 'small' })
    const ordinary = `${'A *line*. '.repeat(20)}\n\n`.repeat(300)
    const answer = await post(ofBuild, { body: ordinary, context: 'long' })
    expect(String(answer.body['body_html'])).toMatch(/^<p>A <em>line<\/em>/)
  })

  it('comes whole in pages with much of it', async () => {
    const { ofBuild } = await aScene()
    for (let index = 0; index < 4; index++)
      await post(ofBuild, {
        body: `${index} ${'long '.repeat(100_000)}`,
        context: `c${index}`,
        priority: 9 - index,
      })
    const answer = await get(`${ofBuild}?per_page=3`)
    expect(answer.headers.get('link')).toContain('rel="next"')
    expect(answer.headers.get('content-type')).toContain('application/json')
    expect(answer.list.map(({ context, body_html }) => [context, String(body_html).length])).toEqual([
      ['c0', 500_010],
      ['c1', 500_010],
      ['c2', 500_010],
    ])
  })
})
