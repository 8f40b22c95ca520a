import { describe, expect, it } from 'vitest'
import { baseUrl, sortedStatuses, useApp } from '../../../../test/app.ts'
import { aCluster, aMember, anAdmin, anOrganization, auditTrail, unique } from '../../../../test/builders.ts'
import { graphqlId } from '../../../lib/ids.ts'

const app = useApp()
const unknownId = '01885682-55a7-44f5-84f3-0402fb452e66'
const configuration = 'steps:\n  - command: make\n'

async function aPlace() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const path = `${org.path}/pipeline-templates`
  const post = (body: object = {}, token = admin.token) =>
    app.request('POST', path, { token, body: { name: unique('Template'), configuration, ...body } })
  const ask = (method: string, uuid: unknown, body?: object, token = admin.token) =>
    app.request(method, `${path}/${uuid}`, { token, body })
  return { org, admin, path, post, ask }
}

describe('POST /v2/organizations/{org.slug}/pipeline-templates', () => {
  it('answers 201 with the template', async () => {
    const { org, admin, path, post } = await aPlace()
    const answer = await post({ name: 'Go', description: 'Services' })
    expect(answer.status).toBe(201)
    const uuid = String(answer.body.uuid)
    const by = expect.objectContaining({ id: admin.id })
    expect(answer.body).toEqual({
      uuid,
      graphql_id: graphqlId('PipelineTemplate', uuid),
      name: 'Go',
      description: 'Services',
      configuration,
      available: false,
      url: `${baseUrl}${path}/${uuid}`,
      web_url: `${baseUrl}/organizations/${org.slug}/pipeline-templates/${uuid}`,
      created_at: expect.any(String),
      created_by: by,
      updated_at: expect.any(String),
      updated_by: by,
    })
    expect(await auditTrail(app, org, 'PIPELINE_TEMPLATE_CREATED')).toMatchObject([
      { subject: { type: 'PipelineTemplate', uuid, name: 'Go' }, data: { name: 'Go', available: false } },
    ])
  })

  it('answers 422 to a body that is not valid', async () => {
    const { post } = await aPlace()
    const message = async (body: object) => {
      const answer = await post(body)
      return [answer.status, answer.body.message]
    }
    expect(await message({ name: undefined })).toEqual([422, 'Validation failed: name is required'])
    expect(await message({ configuration: undefined })).toEqual([
      422,
      'Validation failed: configuration is required',
    ])
    expect(await message({ configuration: 'steps:\n  - wiat\n' })).toEqual([
      422,
      'Validation failed: configuration, line 2, column 5, step 1: "wiat" is not a step; did you mean `wait`?',
    ])
  })

  it('keeps names unique, also when two are made at once', async () => {
    const { post } = await aPlace()
    const answers = await Promise.all([1, 2].map(() => post({ name: 'Same' })))
    expect(sortedStatuses(answers)).toEqual([201, 422])
  })

  it('is for administrators', async () => {
    const { org, post } = await aPlace()
    expect((await post({}, (await aMember(app, org)).token)).status).toBe(403)
  })
})

describe('GET /v2/organizations/{org.slug}/pipeline-templates', () => {
  it('lists all to administrators and those available to members, oldest first', async () => {
    const { org, admin, path, post, ask } = await aPlace()
    const hidden = (await post()).body
    const open = (await post({ available: true })).body
    expect((await app.request('GET', path, { token: admin.token })).body).toEqual([hidden, open])
    const { token } = await aMember(app, org)
    expect((await app.request('GET', path, { token })).body).toEqual([open])
    expect((await ask('GET', open.uuid, undefined, token)).body).toEqual(open)
    expect((await ask('GET', hidden.uuid, undefined, token)).status).toBe(404)
    const first = await app.request('GET', `${path}?per_page=1`, { token: admin.token })
    expect([first.list.length, first.headers.get('link')]).toEqual([1, expect.stringContaining('rel="next"')])
  })
})

describe('PATCH /v2/organizations/{org.slug}/pipeline-templates/{uuid}', () => {
  it('changes what is given', async () => {
    const { org, post, ask } = await aPlace()
    const made = (await post({ description: 'Old' })).body
    const changed = await ask('PUT', made.uuid, { name: 'New', available: true, description: null })
    expect([changed.status, changed.body]).toEqual([
      200,
      { ...made, name: 'New', available: true, description: '', updated_at: expect.any(String) },
    ])
    expect((await ask('PATCH', made.uuid, { configuration: 'steps: []' })).body.configuration).toBe(
      'steps: []',
    )
    expect((await auditTrail(app, org, 'PIPELINE_TEMPLATE_UPDATED')).map(({ data }) => data)).toEqual([
      {
        name: 'New',
        available: true,
        description: '',
        previous: { name: made.name, available: false, description: 'Old' },
      },
      { configuration_changed: true },
    ])
  })

  it('answers 422 to a configuration that cannot be read, and 404 elsewhere', async () => {
    const [mine, theirs] = [await aPlace(), await aPlace()]
    const made = (await mine.post()).body
    const foreign = (await theirs.post()).body
    expect((await mine.ask('PATCH', made.uuid, { configuration: '[' })).status).toBe(422)
    for (const uuid of [foreign.uuid, unknownId, 'x']) {
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        const answer = await mine.ask(method, uuid, method === 'PATCH' ? {} : undefined)
        expect([answer.status, answer.body]).toEqual([404, { message: 'No pipeline template found' }])
      }
    }
  })
})

describe('DELETE /v2/organizations/{org.slug}/pipeline-templates/{uuid}', () => {
  it('answers 422 while pipelines have it, also when one gets it meanwhile', async () => {
    const { org, admin, post, ask } = await aPlace()
    await aCluster(app, org, admin)
    const { uuid } = (await post()).body
    const use = () =>
      app.request('POST', `${org.path}/pipelines`, {
        token: admin.token,
        body: {
          name: unique('App'),
          repository: 'https://git.example.com/a.git',
          pipeline_template_uuid: uuid,
        },
      })
    const pipeline = (await use()).body
    const refused = await ask('DELETE', uuid)
    expect([refused.status, refused.body]).toEqual([
      422,
      { message: 'The template cannot be deleted: 1 pipeline uses it.' },
    ])
    await app.request('DELETE', `${org.path}/pipelines/${pipeline.slug}`, { token: admin.token })
    const [deleted, ...used] = await Promise.all([ask('DELETE', uuid), use(), use()])
    expect(deleted.status === 204 ? [422, 422] : [201, 201]).toEqual(used.map(({ status }) => status))
  })

  it('is done once when asked twice at the same time, and audited once', async () => {
    const { org, post, ask } = await aPlace()
    const { uuid } = (await post()).body
    expect(sortedStatuses(await Promise.all([ask('DELETE', uuid), ask('DELETE', uuid)]))).toEqual([204, 404])
    expect(await auditTrail(app, org, 'PIPELINE_TEMPLATE_DELETED')).toHaveLength(1)
  })
})
