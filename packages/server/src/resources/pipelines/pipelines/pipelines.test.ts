import { describe, expect, it } from 'vitest'
import { baseUrl, sortedStatuses, useApp } from '../../../../test/app.ts'
import {
  aCluster,
  aMember,
  anAdmin,
  anOrganization,
  aTeam,
  aToken,
  auditTrail,
  unique,
} from '../../../../test/builders.ts'

const app = useApp()
const unknownId = '01885682-55a7-44f5-84f3-0402fb452e66'
const configuration = 'steps:\n  - command: make\n'
const repository = 'git@github.com:acme/app.git'

async function anOrg() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  await aCluster(app, org, admin)
  const path = `${org.path}/pipelines`
  const post = (body: object, token = admin.token) =>
    app.request('POST', path, { token, body: { name: unique('App'), repository, configuration, ...body } })
  const patch = (slug: unknown, body: object, token = admin.token) =>
    app.request('PATCH', `${path}/${slug}`, { token, body })
  const get = (slug: unknown, token = admin.token) => app.request('GET', `${path}/${slug}`, { token })
  return { org, admin, path, post, patch, get }
}

const invalid = (field: string, code: unknown) => [
  422,
  { message: expect.stringMatching(/^Validation Failed: ./), errors: [{ field, code }] },
]

describe('GET /v2/organizations/{org.slug}/pipelines', () => {
  it('lists oldest first, in pages', async () => {
    const { org, admin, path, post } = await anOrg()
    for (const name of ['One', 'Two', 'Three']) await post({ name })
    const answer = await app.request('GET', `${path}?per_page=2`, { token: admin.token })
    expect(answer.list.map(({ name }) => name)).toEqual(['One', 'Two'])
    expect(answer.headers.get('link')).toBe(`<${baseUrl}${org.path}/pipelines?page=2&per_page=2>; rel="next"`)
  })

  it('narrows by part of the name and of the repository, in any case', async () => {
    const { admin, path, post } = await anOrg()
    await post({ name: 'Web App', repository: 'https://git.example.com/100%_web.git' })
    await post({ name: 'Api', repository: 'https://git.example.com/api.git' })
    const names = async (query: string) =>
      (await app.request('GET', `${path}?${query}`, { token: admin.token })).list.map(({ name }) => name)
    expect(await names('name=aPp')).toEqual(['Web App'])
    expect(await names('repository=EXAMPLE.com/api')).toEqual(['Api'])
    expect(await names('repository=100%25_')).toEqual(['Web App'])
    expect(await names('name=a%25p')).toEqual([])
    expect(await names('name=web&repository=api')).toEqual([])
  })

  it('narrows to those that have one of these ids', async () => {
    const { admin, path, post } = await anOrg()
    const ids: unknown[] = []
    for (const name of ['One', 'Two', 'Three']) ids.push((await post({ name })).body.id)
    const other = await anOrg()
    const foreign = (await other.post({ name: 'Foreign' })).body.id
    const asked = await app.request('GET', `${path}?id[]=${ids[2]}&id[]=${ids[0]}&id[]=${foreign}`, {
      token: admin.token,
    })
    expect(asked.list.map(({ name }) => name)).toEqual(['One', 'Three'])
    expect((await app.request('GET', `${path}?id=one`, { token: admin.token })).status).toBe(400)
  })

  it('shows archived ones only to those who ask', async () => {
    const { admin, path, post } = await anOrg()
    const slug = (await post({})).body.slug
    await app.request('POST', `${path}/${slug}/archive`, { token: admin.token })
    expect((await app.request('GET', path, { token: admin.token })).list).toEqual([])
    const all = await app.request('GET', `${path}?include_archived=true`, { token: admin.token })
    expect(all.list).toMatchObject([{ slug }])
  })
})

describe('GET /v2/organizations/{org.slug}/pipelines/{slug}', () => {
  it('answers the pipeline as create did', async () => {
    const { post, get } = await anOrg()
    const made = (await post({})).body
    expect((await get(made.slug)).body).toEqual(made)
  })

  it('answers 404 for any other slug', async () => {
    const [mine, theirs] = [await anOrg(), await anOrg()]
    const foreign = (await theirs.post({})).body
    for (const slug of [foreign.slug, foreign.id, unknownId, '%20', '..%2f']) {
      const answer = await mine.get(slug)
      expect([answer.status, answer.body]).toEqual([404, { message: 'No pipeline found' }])
    }
  })

  it('shows webhook_url only to tokens with write_pipelines', async () => {
    const { org, post, get } = await anOrg()
    const { slug } = (await post({})).body
    const member = await aMember(app, org)
    const reader = await aToken(app, member, { scopes: ['read_pipelines'] })
    expect((await get(slug, member.token)).body.provider.webhook_url).toMatch(/\/deliver\//)
    expect((await get(slug, reader)).body.provider.webhook_url).toBe('')
    const list = await app.request('GET', `${org.path}/pipelines`, { token: reader })
    expect(list.list[0].provider.webhook_url).toBe('')
  })
})

describe('PATCH /v2/organizations/{org.slug}/pipelines/{slug}', () => {
  it('changes what is given and keeps the rest, by PUT too', async () => {
    const { admin, path, post } = await anOrg()
    const made = (await post({ description: 'Old', tags: ['a'], emoji: ':tada:' })).body
    const put = await app.request('PUT', `${path}/${made.slug}`, {
      token: admin.token,
      body: { description: 'New', emoji: null, tags: [], allow_rebuilds: false },
    })
    expect(put.status).toBe(200)
    expect(put.body).toEqual({ ...made, description: 'New', emoji: null, tags: [], allow_rebuilds: false })
  })

  it('accepts the response of get and changes nothing', async () => {
    const { post, patch } = await anOrg()
    const made = (await post({ provider_settings: { build_tags: true } })).body
    const again = await patch(made.slug, { ...made, provider_settings: made.provider.settings })
    expect([again.status, again.body]).toEqual([200, made])
  })

  it('derives a new slug from a new name, unless one is given', async () => {
    const { post, patch, get } = await anOrg()
    const made = (await post({ name: 'First', slug: 'Custom' })).body
    expect((await patch('Custom', { name: 'First', description: 'x' })).body.slug).toBe('Custom')
    expect((await patch('Custom', { name: 'Second' })).body.slug).toBe('second')
    expect((await get('Custom')).status).toBe(404)
    expect((await patch('second', { name: 'Third', slug: 'kept' })).body).toMatchObject({
      id: made.id,
      slug: 'kept',
    })
  })

  it('moves the provider with the repository and keeps the settings', async () => {
    const { post, patch } = await anOrg()
    const { slug } = (await post({ provider_settings: { build_tags: true } })).body
    const moved = (await patch(slug, { repository: 'https://git.example.com/app.git' })).body
    expect(moved.provider).toMatchObject({ id: 'private', settings: { build_tags: true } })
    const back = (await patch(slug, { repository, provider_settings: { build_branches: false } })).body
    expect(back.provider).toMatchObject({
      id: 'github',
      settings: { build_tags: true, build_branches: false, build_pull_requests: true },
    })
  })

  it('clears cluster_id with null', async () => {
    const { post, patch } = await anOrg()
    const { slug } = (await post({})).body
    expect((await patch(slug, { cluster_id: null })).body).toMatchObject({
      cluster_id: null,
      cluster_url: null,
    })
  })

  it('answers 422 to steps alone for a pipeline in YAML, and to an emptied configuration', async () => {
    const { post, patch } = await anOrg()
    const { slug } = (await post({})).body
    const alone = await patch(slug, { steps: [{ type: 'waiter' }] })
    expect([alone.status, alone.body]).toMatchObject(invalid('steps', expect.stringContaining('YAML')))
    const emptied = await patch(slug, { configuration: '' })
    expect([emptied.status, emptied.body]).toMatchObject(
      invalid('configuration', expect.stringContaining('missing')),
    )
  })

  it('follows a template while it has one', async () => {
    const { org, admin, post, patch, get } = await anOrg()
    const body = { name: unique('T'), configuration: 'steps:\n  - command: from template\n' }
    const template = (
      await app.request('POST', `${org.path}/pipeline-templates`, { token: admin.token, body })
    ).body
    const made = await post({ configuration: undefined, pipeline_template_uuid: template.uuid })
    expect(made.body).toMatchObject({
      pipeline_template_uuid: template.uuid,
      configuration: body.configuration,
    })
    const { slug } = made.body
    const own = await patch(slug, { configuration })
    expect([own.status, own.body]).toMatchObject(
      invalid('configuration', 'comes from the template; unassign it to give another'),
    )
    const path = `${org.path}/pipeline-templates/${template.uuid}`
    const next = { configuration: 'steps:\n  - command: changed\n' }
    await app.request('PATCH', path, { token: admin.token, body: next })
    expect((await get(slug)).body).toMatchObject(next)
    expect((await patch(slug, { pipeline_template_uuid: null })).body).toMatchObject({
      ...next,
      pipeline_template_uuid: null,
    })
    expect((await patch(slug, { configuration })).body).toMatchObject({ configuration })
  })

  it('lets members use only templates that are available', async () => {
    const { org, admin, post } = await anOrg()
    const member = await aMember(app, org)
    const body = { name: unique('T'), configuration }
    const templates = `${org.path}/pipeline-templates`
    const { uuid } = (await app.request('POST', templates, { token: admin.token, body })).body
    const use = { configuration: undefined, pipeline_template_uuid: uuid }
    const refused = await post(use, member.token)
    expect([refused.status, refused.body]).toMatchObject(
      invalid('pipeline_template_uuid', 'is not a template that you may use'),
    )
    await app.request('PATCH', `${templates}/${uuid}`, { token: admin.token, body: { available: true } })
    expect((await post(use, member.token)).status).toBe(201)
  })

  it('makes a pipeline public where the organization allows it, and says so in the audit log', async () => {
    const { org, admin, post, patch } = await anOrg()
    const { slug, id } = (await post({})).body
    const setting = `${org.path}/pipeline-settings/public-pipelines`
    await app.request('PUT', setting, { token: admin.token })
    expect((await patch(slug, { visibility: 'public' })).body.visibility).toBe('public')
    await app.request('DELETE', setting, { token: admin.token })
    expect((await patch(slug, { visibility: 'public', description: 'x' })).status).toBe(200)
    expect(await auditTrail(app, org, 'PIPELINE_VISIBILITY_CHANGED')).toMatchObject([
      { subject: { type: 'Pipeline', uuid: id }, data: { visibility: 'public' } },
    ])
  })

  it('replaces the teams of a pipeline', async () => {
    const { org, admin, post, patch } = await anOrg()
    const [first, second] = [await aTeam(app, org, admin), await aTeam(app, org, admin)]
    const { slug, id } = (await post({ team_uuids: [first.id] })).body
    await patch(slug, { description: 'teams stay' })
    await patch(slug, { teams: { [first.id]: 'read_only', [second.id]: 'read_only' } })
    await patch(slug, { teams: { [second.id]: 'read_only' } })
    const left = app.db.selectFrom('team_pipelines').select('team_id').where('pipeline_id', '=', String(id))
    expect(await left.execute()).toEqual([{ team_id: second.id }])
  })

  it('writes PIPELINE_UPDATED with what changed, also when two change at once', async () => {
    const { org, post, patch } = await anOrg()
    const { slug } = (await post({})).body
    await Promise.all([patch(slug, { description: 'New' }), patch(slug, { configuration: 'steps: []' })])
    const data = (await auditTrail(app, org, 'PIPELINE_UPDATED')).map((event) => event.data)
    expect(data).toHaveLength(2)
    expect(data).toEqual(
      expect.arrayContaining([
        { description: 'New', previous: { description: '' } },
        { configuration_changed: true },
      ]),
    )
  })

  it('answers 422 to a slug or name of another pipeline', async () => {
    const { post, patch } = await anOrg()
    await post({ name: 'Taken' })
    const { slug } = (await post({})).body
    expect((await patch(slug, { slug: 'taken' })).body.errors).toMatchObject([{ field: 'slug' }])
    expect((await patch(slug, { name: 'Taken', slug })).body.errors).toMatchObject([{ field: 'name' }])
  })
})

describe('POST /v2/organizations/{org.slug}/pipelines/{slug}/archive', () => {
  it('archives once, and nothing changes until it is unarchived', async () => {
    const { admin, path, post, patch } = await anOrg()
    const made = (await post({})).body
    const ask = (verb: string) => app.request('POST', `${path}/${made.slug}/${verb}`, { token: admin.token })
    const notYet = await ask('unarchive')
    expect([notYet.status, notYet.body]).toEqual([422, { message: 'Pipeline could not be unarchived.' }])
    const answers = await Promise.all([ask('archive'), ask('archive')])
    expect(sortedStatuses(answers)).toEqual([200, 422])
    expect(answers.find(({ status }) => status === 200)?.body).toEqual({
      ...made,
      archived_at: expect.any(String),
    })
    expect(answers.find(({ status }) => status === 422)?.body).toEqual({
      message: 'Pipeline could not be archived.',
    })
    expect((await patch(made.slug, { description: 'x' })).status).toBe(422)
    expect((await ask('unarchive')).body).toEqual(made)
  })
})

describe('DELETE /v2/organizations/{org.slug}/pipelines/{slug}', () => {
  it('answers 204 once, and audits once', async () => {
    const { org, admin, path, post } = await anOrg()
    const { slug, id, name } = (await post({})).body
    const answers = await Promise.all(
      [1, 2].map(() => app.request('DELETE', `${path}/${slug}`, { token: admin.token })),
    )
    expect(sortedStatuses(answers)).toEqual([204, 404])
    expect(await auditTrail(app, org, 'PIPELINE_DELETED')).toMatchObject([
      { subject: { type: 'Pipeline', uuid: id, name }, data: {} },
    ])
  })
})

describe('POST /v2/organizations/{org.slug}/pipelines/{slug}/webhook', () => {
  it('answers 422 with the reason', async () => {
    const { admin, path, post } = await anOrg()
    const message = async (repository: string) => {
      const { slug } = (await post({ repository })).body
      const answer = await app.request('POST', `${path}/${slug}/webhook`, { token: admin.token })
      return [answer.status, answer.body.message]
    }
    expect(await message('https://git.example.com/app.git')).toEqual([
      422,
      'Auto-creating webhooks is not supported for your repository.',
    ])
    expect(await message(repository)).toEqual([
      422,
      'Webhooks could not be created for your repository. No repository connection with a token belongs to its host.',
    ])
  })
})

describe('/v2/organizations/{org.slug}/pipelines/{slug}/github-webhooks', () => {
  it('are enabled, and can be disabled and enabled again, any number of times', async () => {
    const { org, admin, path, post } = await anOrg()
    const { slug } = (await post({})).body
    const ask = (method: string) =>
      app.request(method, `${path}/${slug}/github-webhooks`, { token: admin.token })
    const enabled = {
      url: `${baseUrl}${path}/${slug}/github-webhooks`,
      enabled: true,
      disabled_at: null,
      disabled_by: null,
    }
    expect([(await ask('GET')).body, (await ask('PUT')).body]).toEqual([enabled, enabled])
    const disabled = await ask('DELETE')
    expect([disabled.status, disabled.body]).toEqual([
      200,
      { ...enabled, enabled: false, disabled_at: expect.any(String), disabled_by: admin.name },
    ])
    expect((await ask('DELETE')).body).toEqual(disabled.body)
    expect((await ask('PUT')).body).toEqual(enabled)
    expect(await auditTrail(app, org, 'PIPELINE_UPDATED')).toHaveLength(2)
  })

  it('answer 404 for a repository elsewhere', async () => {
    const { admin, path, post } = await anOrg()
    const { slug } = (await post({ repository: 'https://git.example.com/app.git' })).body
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await app.request(method, `${path}/${slug}/github-webhooks`, { token: admin.token })
      expect([answer.status, answer.body]).toEqual([404, { message: 'No GitHub webhooks found' }])
    }
  })
})
