import { describe, expect, it } from 'vitest'
import { baseUrl, sortedStatuses, useApp } from '../../../../test/app.ts'
import { aMember, anAdmin, anOrganization, aPipeline, auditTrail } from '../../../../test/builders.ts'
import { graphqlId } from '../../../lib/ids.ts'

const app = useApp()
const unknownId = '01885682-55a7-44f5-84f3-0402fb452e66'
const type = 'pipeline.trigger_build.pipeline'

async function aPlace() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const [source, target] = [await aPipeline(app, org, 'steps: []'), await aPipeline(app, org, 'steps: []')]
  const path = `${org.path}/rules`
  const post = (value: object = {}, token = admin.token) =>
    app.request('POST', path, {
      token,
      body: { type, value: { source_pipeline: source.slug, target_pipeline: target.id, ...value } },
    })
  const ask = (method: string, uuid: unknown, token = admin.token) =>
    app.request(method, `${path}/${uuid}`, { token })
  return { org, admin, source, target, path, post, ask }
}

describe('POST /v2/organizations/{org.slug}/rules', () => {
  it('answers 201 with the rule, its pipelines named by slug or UUID', async () => {
    const { org, admin, source, target, path, post } = await aPlace()
    const conditions = ['build.branch == "main"']
    const answer = await post({ conditions })
    expect(answer.status).toBe(201)
    const uuid = String(answer.body.uuid)
    expect(answer.body).toEqual({
      uuid,
      graphql_id: graphqlId('Rule', uuid),
      organization_uuid: org.id,
      url: `${baseUrl}${path}/${uuid}`,
      description: null,
      document: JSON.stringify({
        rule: type,
        value: { source_pipeline: source.slug, target_pipeline: target.id, conditions },
      }),
      type,
      source_type: 'pipeline',
      source_uuid: source.id,
      target_type: 'pipeline',
      target_uuid: target.id,
      source: { id: source.id, name: expect.any(String), slug: source.slug },
      target: { id: target.id, name: expect.any(String), slug: target.slug },
      effect: 'allow',
      action: 'trigger_build',
      conditions,
      created_at: expect.any(String),
      created_by: expect.objectContaining({ id: admin.id }),
    })
    expect(await auditTrail(app, org, 'RULE_CREATED')).toMatchObject([
      { subject: { type: 'Rule', uuid, name: type }, data: { source_uuid: source.id, conditions } },
    ])
  })

  it('answers 422 to what is not two pipelines here', async () => {
    const [mine, theirs] = [await aPlace(), await aPlace()]
    const message = async (value: object) => {
      const answer = await mine.post(value)
      return [answer.status, answer.body.message]
    }
    for (const name of [theirs.source.slug, theirs.source.id, unknownId, 'nowhere']) {
      expect(await message({ target_pipeline: name })).toEqual([
        422,
        `value.target_pipeline "${name}" is not a pipeline of this organization.`,
      ])
    }
    expect(await message({ target_pipeline: mine.source.id })).toEqual([
      422,
      'source_pipeline and target_pipeline must be two pipelines.',
    ])
  })

  it('answers 422 to a condition that cannot be read, and to an unknown type', async () => {
    const { admin, path, post } = await aPlace()
    const answer = await post({ conditions: ['true', 'build.brunch == "x"'] })
    expect([answer.status, answer.body.message]).toEqual([
      422,
      expect.stringMatching(/^value\.conditions\[1\] is not a condition: .* at character 1$/),
    ])
    const body = { type: 'pipeline.delete.pipeline', value: { source_pipeline: 'a', target_pipeline: 'b' } }
    expect((await app.request('POST', path, { token: admin.token, body })).status).toBe(422)
  })

  it('keeps one rule of a type for two pipelines, also when two are made at once', async () => {
    const { post } = await aPlace()
    const answers = await Promise.all([post(), post()])
    expect(sortedStatuses(answers)).toEqual([201, 422])
    expect(answers.find(({ status }) => status === 422)?.body).toEqual({
      message: 'There is a rule of this type for these pipelines already.',
    })
  })

  it('is for administrators', async () => {
    const { org, post, ask } = await aPlace()
    const made = (await post()).body
    const { token } = await aMember(app, org)
    expect((await post({}, token)).status).toBe(403)
    expect((await ask('DELETE', made.uuid, token)).status).toBe(403)
  })
})

describe('GET /v2/organizations/{org.slug}/rules', () => {
  it('lists oldest first, in pages, and answers a single one', async () => {
    const { org, admin, path, post, ask } = await aPlace()
    const third = await aPipeline(app, org, 'steps: []')
    const made = [(await post()).body, (await post({ target_pipeline: third.id })).body]
    expect((await app.request('GET', path, { token: admin.token })).body).toEqual(made)
    const first = await app.request('GET', `${path}?per_page=1`, { token: admin.token })
    expect([first.list, first.headers.get('link')]).toEqual([
      [made[0]],
      expect.stringContaining('rel="next"'),
    ])
    expect((await ask('GET', made[1].uuid)).body).toEqual(made[1])
  })

  it('shows members only rules about pipelines that they may know of', async () => {
    const { org, admin, target, path, post, ask } = await aPlace()
    const made = (await post()).body
    const { token } = await aMember(app, org)
    expect((await app.request('GET', path, { token })).body).toEqual([made])
    await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
    expect((await app.request('GET', path, { token })).body).toEqual([])
    expect((await ask('GET', made.uuid, token)).status).toBe(404)
    await app.db.updateTable('pipelines').set({ visibility: 'public' }).where('id', '=', target.id).execute()
    expect((await ask('GET', made.uuid, token)).body).toMatchObject({
      source: null,
      target: { id: target.id },
    })
  })

  it('answers 404 elsewhere', async () => {
    const [mine, theirs] = [await aPlace(), await aPlace()]
    const foreign = (await theirs.post()).body
    for (const uuid of [foreign.uuid, unknownId, 'x']) {
      for (const method of ['GET', 'DELETE']) {
        const answer = await mine.ask(method, uuid)
        expect([answer.status, answer.body]).toEqual([404, { message: 'No rule found' }])
      }
    }
  })
})

describe('PUT /v2/organizations/{org.slug}/rules/{uuid}', () => {
  it('changes what the rule is about, and what it is for', async () => {
    const { org, admin, source, path, post } = await aPlace()
    const third = await aPipeline(app, org, 'steps: []')
    const made = (await post({ conditions: ['true'] })).body
    const put = (body: object, token = admin.token) =>
      app.request('PUT', `${path}/${String(made.uuid)}`, { token, body })
    const value = { target_pipeline: third.slug, source_pipeline: source.id }
    const changed = await put({ description: 'Deploys', value })
    expect([changed.status, changed.body]).toEqual([
      200,
      {
        ...made,
        description: 'Deploys',
        document: `{"rule":"${type}","value":{"target_pipeline":"${third.slug}","source_pipeline":"${source.id}"}}`,
        target_uuid: third.id,
        target: { id: third.id, name: expect.any(String), slug: third.slug },
        conditions: [],
      },
    ])
    expect((await put({ description: null })).body).toEqual({ ...changed.body, description: null })
    expect(await auditTrail(app, org, 'RULE_UPDATED')).toMatchObject([
      { data: { target_pipeline_id: third.id, description: 'Deploys' } },
      { data: { description: null } },
    ])
    expect((await put({ value: { ...value, target_pipeline: 'nowhere' } })).status).toBe(422)
    expect((await put({ description: 'x' }, (await aMember(app, org)).token)).status).toBe(403)
  })

  it('answers 422 where it would be a second rule for the same pipelines', async () => {
    const { org, admin, source, target, path, post } = await aPlace()
    const third = await aPipeline(app, org, 'steps: []')
    await post()
    const other = (await post({ target_pipeline: third.id })).body
    const body = { value: { source_pipeline: source.id, target_pipeline: target.id } }
    expect(
      await app.request('PUT', `${path}/${String(other.uuid)}`, { token: admin.token, body }),
    ).toMatchObject({
      status: 422,
      body: { message: 'There is a rule of this type for these pipelines already.' },
    })
  })

  it('gives rules without a document one that is made of their columns', async () => {
    const { source, target, post, ask } = await aPlace()
    const { uuid } = (await post()).body
    await app.db.updateTable('rules').set({ document: null }).where('id', '=', String(uuid)).execute()
    expect(JSON.parse(String((await ask('GET', uuid)).body.document))).toEqual({
      rule: type,
      value: { source_pipeline: source.id, target_pipeline: target.id },
    })
  })
})

describe('DELETE /v2/organizations/{org.slug}/rules/{uuid}', () => {
  it('answers 204 once, and audits once', async () => {
    const { org, post, ask } = await aPlace()
    const { uuid } = (await post()).body
    expect(sortedStatuses(await Promise.all([ask('DELETE', uuid), ask('DELETE', uuid)]))).toEqual([204, 404])
    expect(await auditTrail(app, org, 'RULE_DELETED')).toHaveLength(1)
  })
})
