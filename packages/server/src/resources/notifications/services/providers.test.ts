import { describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import { aMember, anAdmin, anOrganization, aPipeline, aTeam, withFeature } from '../../../../test/builders.ts'

const app = useApp()

interface Setting {
  name: string
  label: string
  hint: string
  kind: string
  choices: string[]
  example: string | null
  initial: unknown
  is_required: boolean
  is_generated: boolean
  is_secret: boolean
  is_fixed: boolean
}

interface Provider {
  id: string
  same_as: string | null
  is_available: boolean
  connect_url: string | null
  made_by: string
  selects_by: string
  settings: Setting[]
}

async function aPlace() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const list = async () => {
    const answer = await app.request('GET', `${org.path}/services/providers`, { token: admin.token })
    return answer.body as unknown as Provider[]
  }
  const create = (provider: string, settings: object) =>
    app.request('POST', `${org.path}/services`, { token: admin.token, body: { provider, settings } })
  return { org, admin, list, create }
}

const settingsOf = (list: Provider[], id: string) => list.find((each) => each.id === id)?.settings ?? []

describe('GET …/services/providers', () => {
  it('describes settings that are accepted as they are described', async () => {
    const { list, create } = await aPlace()
    const examples: Record<string, unknown> = {
      cloud_account_id: '123456789012',
      api_key: '0123456789abcdef',
    }
    for (const { id, settings } of (await list()).filter(
      (each) => each.made_by === 'rest' && each.is_available,
    )) {
      const valueOf = ({ name, kind, example }: Setting) =>
        example ?? examples[name] ?? { text: 'a', lines: 'a:b', map: { a: 'b' } }[kind]
      const optional = settings.filter(({ initial, is_generated: isMade }) => initial === null && !isMade)
      const filled = Object.fromEntries(optional.map((each) => [each.name, valueOf(each)]))
      const created = await create(id, filled)
      expect([id, created.status, created.body.message]).toEqual([id, 201, undefined])
      for (const { name, kind, choices } of settings.filter((each) => each.choices.length > 0))
        for (const choice of choices) {
          const value = kind === 'choices' ? [choice] : choice
          expect((await create(id, { ...filled, [name]: value })).status).toBe(201)
        }
      const required = settings.find(
        (each) => each.is_required && each.initial === null && !each.is_generated,
      )
      if (required === undefined) continue
      expect(await create(id, { ...filled, [required.name]: null })).toMatchObject({
        status: 422,
        body: { message: `Validation failed: settings.${required.name} is required` },
      })
    }
  })

  it('has a label and a hint for each setting, the values before anybody chose, and no secret', async () => {
    const { list } = await aPlace()
    const all = (await list()).flatMap(({ id, settings }) => settings.map((each) => ({ id, ...each })))
    // Nobody types the credentials of a connected site.
    const unexplained = all.filter(
      ({ label, hint, name }) => !name.endsWith('_token') && (label === '' || hint === ''),
    )
    expect(unexplained).toEqual([])
    const webhook = settingsOf(await list(), 'webhook')
    expect(webhook.map(({ name, kind, initial }) => [name, kind, initial])).toEqual([
      ['url', 'text', null],
      ['token', 'text', null],
      ['token_mode', 'choice', 'token'],
      ['version', 'number', 3],
      ['events', 'choices', ['build.finished']],
      ['tls_verify', 'switch', true],
    ])
    expect(webhook[1]).toMatchObject({ is_secret: true, is_generated: true })
  })

  it('names providers by their other names too, and what cannot be created here', async () => {
    const { org, list } = await aPlace()
    const find = async (id: string) => (await list()).find((each) => each.id === id)
    expect(await find('slack')).toMatchObject({ same_as: 'chat', is_available: true })
    expect(settingsOf(await list(), 'aws_event_bridge').map(({ name }) => name)).toEqual([
      'aws_region',
      'aws_account_id',
      'include_audit_events',
    ])
    expect(await find('chat_workspace')).toMatchObject({ is_available: false, connect_url: null })
    expect(await find('event_log_api')).toMatchObject({ is_available: false })
    await withFeature(app, org, 'event_log_api')
    expect(await find('event_log_api')).toMatchObject({ is_available: true, selects_by: 'events' })
  })

  it('answers 403 to those who may not manage services', async () => {
    const { org } = await aPlace()
    const member = await aMember(app, org)
    const answer = await app.request('GET', `${org.path}/services/providers`, { token: member.token })
    expect(answer.status).toBe(403)
  })
})

describe('GET …/services', () => {
  it('lists services in a state, with what they were last sent', async () => {
    const { org, admin, create } = await aPlace()
    const get = (query: string) =>
      app.request('GET', `${org.path}/services${query}`, { token: admin.token }).then(({ body }) => body)
    const made = (await create('webhook', { url: 'https://hooks.example.com/a' })).body
    const chat = (await create('chat', { url: 'https://chat.example.com/a' })).body
    await app.request('PUT', `${org.path}/services/${chat.id}/disable`, { token: admin.token })
    const ids = async (state: string) =>
      ((await get(`?state=${state}`)).items as unknown as Array<{ id: string }>).map(({ id }) => id)
    expect([await ids('enabled'), await ids('disabled'), await ids('broken')]).toEqual([
      [made.id],
      [chat.id],
      [],
    ])
    await app.db
      .updateTable('notification_services')
      .set({ broken_at: new Date().toISOString(), broken_reason: 'It was.' })
      .where('id', '=', String(made.id))
      .execute()
    expect([await ids('enabled'), await ids('broken')]).toEqual([[], [made.id]])
    expect((await get('')).items).not.toContainEqual(
      expect.objectContaining({ last_delivery: expect.anything() }),
    )
    // The ping that its creation has sent.
    expect((await get('?include_last_delivery=true')).items).toMatchObject([
      { id: made.id, last_delivery: { event: 'ping' } },
      { id: chat.id, last_delivery: null },
    ])
    expect(await get(`/${chat.id}?include_last_delivery=true`)).toMatchObject({ last_delivery: null })
  })

  it('names the targets of a service to those who may see them', async () => {
    const { org, admin, create } = await aPlace()
    const member = await aMember(app, org)
    await withFeature(app, org, 'members_manage_notification_services')
    const pipeline = await aPipeline(app, org, 'steps: []', { name: 'Web app' })
    const made = (await create('webhook', { url: 'https://hooks.example.com/a' })).body
    const path = `${org.path}/services/${made.id}`
    const body = { scope: 'some_projects', scope_uuids: [pipeline.id] }
    await app.request('PATCH', path, { token: admin.token, body })
    const targets = async (token: string) =>
      (await app.request('GET', `${path}?include_targets=true`, { token })).body['targets']
    expect(await targets(admin.token)).toEqual([{ id: pipeline.id, name: 'Web app' }])
    expect(await targets(member.token)).toEqual([{ id: pipeline.id, name: 'Web app' }])
    await aTeam(app, org, admin)
    await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
    expect(await targets(member.token)).toEqual([{ id: pipeline.id, name: null }])
    expect((await app.request('GET', path, { token: admin.token })).body).not.toHaveProperty('targets')
  })
})
