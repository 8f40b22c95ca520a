import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import {
  aCluster,
  aMember,
  anAdmin,
  anOrganization,
  aToken,
  auditTrail,
  unique,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'

const app = useApp()
const token = 'gitea-token-1234567890'
const webhook_secret = 'webhook-secret-abcd'

let org: TestOrganization
let admin: TestUser
beforeAll(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
  await aCluster(app, org, admin)
})

const call = (method: string, id = '', body?: object, as = admin.token) =>
  app.request(method, `${org.path}/repository_connections${id === '' ? '' : `/${id}`}`, {
    token: as,
    ...(body === undefined ? {} : { body }),
  })

const aHost = () => `https://${unique('git')}.example.com`
const hostOf = (url: string) => new URL(url).hostname

describe('POST /organizations/{org.slug}/repository_connections', () => {
  it('answers 201 with the connection, its secrets masked', async () => {
    const url = aHost()
    const answer = await call('POST', '', { type: 'gitea', url: `${url}/`, token, webhook_secret })
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        id: expect.any(String),
        type: 'gitea',
        display_name: `Gitea at ${hostOf(url)}`,
        url,
        host: { type: 'gitea', url },
        api_url: `${url}/api/v1`,
        repository_host: hostOf(url),
        token: `${'X'.repeat(18)}7890`,
        app_id: null,
        installation_id: null,
        private_key: null,
        webhook_secret: `${'X'.repeat(15)}abcd`,
        checkout_enabled: true,
        problem: null,
        problem_at: null,
        created_at: expect.any(String),
        created_by: expect.objectContaining({ id: admin.id }),
      },
    ])
    expect((await call('GET', String(answer.body.id))).body).toEqual(answer.body)
    expect((await call('GET')).list).toContainEqual(answer.body)
  })

  it('keeps the secrets sealed, and out of the audit events and the log', async () => {
    const { body } = await call('POST', '', { type: 'gitea', url: aHost(), token, webhook_secret })
    const row = await app.db
      .selectFrom('repository_connections')
      .selectAll()
      .where('id', '=', String(body.id))
      .executeTakeFirstOrThrow()
    expect(JSON.stringify(row)).not.toContain(token)
    expect(row.token_sealed?.includes(token)).toBe(false)
    expect(app.ctx.keys.open(row.token_sealed ?? Buffer.of(), row.token_key_id ?? '')).toBe(token)
    const trail = await auditTrail(app, org, 'SCM_REPOSITORY_HOST_CREATED')
    expect(trail.at(-1)).toMatchObject({ subject: { uuid: body.id }, data: { type: 'gitea' } })
    expect(JSON.stringify(trail) + app.logLines.join('')).not.toMatch(/gitea-token|webhook-secret/)
  })

  it('knows the addresses of the public hosts', async () => {
    const elsewhere = await anOrganization(app)
    const owner = await anAdmin(app, elsewhere)
    const post = (body: object) =>
      app.request('POST', `${elsewhere.path}/repository_connections`, { token: owner.token, body })
    expect((await post({ type: 'github' })).body).toMatchObject({
      url: 'https://github.com',
      host: { type: 'github', url: 'https://github.com' },
      api_url: 'https://api.github.com',
    })
    expect((await post({ type: 'gitlab' })).body.api_url).toBe('https://gitlab.com/api/v4')
    expect((await post({ type: 'bitbucket' })).body.api_url).toBe('https://api.bitbucket.org/2.0')
    const own = await post({ type: 'github', url: 'https://ghe.example.com' })
    expect(own.body).toMatchObject({
      api_url: 'https://ghe.example.com/api/v3',
      host: { type: 'github_enterprise', url: 'https://ghe.example.com' },
    })
  })

  it.each([
    [{ type: 'gitea' }, 'url is required for a host of your own'],
    [{ type: 'gitea', url: 'git.example.com' }, 'url must be an address such as https://git.example.com'],
    [
      { type: 'gitea', url: 'https://u:p@git.example.com' },
      'url must be an address such as https://git.example.com',
    ],
    [{ type: 'gitea', url: 'file:///etc' }, 'url must be an address such as https://git.example.com'],
    [
      { type: 'gitea', url: 'https://a.example.com', api_url: 'x' },
      'api_url must be an address such as https://git.example.com',
    ],
    [
      { type: 'gitea', url: 'https://a.example.com', token: 'a b' },
      'token must be printable and without spaces',
    ],
    [
      { type: 'git', url: 'https://a.example.com', token: 'abc' },
      'token is of no use: a plain git server has no API to send commit statuses to',
    ],
    [
      { type: 'svn', url: 'https://a.example.com' },
      'type must be "github", "github_app", "github_enterprise_app", "gitlab", "bitbucket", "bitbucket_server", "azure_devops", "gitea", "forgejo", "gogs" or "git"',
    ],
  ])('answers 422: %#', async (body, reason) => {
    const answer = await call('POST', '', body)
    expect([answer.status, answer.body.message]).toEqual([422, `Validation failed: ${reason}`])
  })

  it('answers 422 when the host is connected already', async () => {
    const url = aHost()
    await call('POST', '', { type: 'gitea', url })
    expect((await call('POST', '', { type: 'gitlab', url })).body.message).toBe(
      'Validation failed: url names a host that another connection has already',
    )
  })

  it('connects two hosts with one name and different ports', async () => {
    const url = aHost()
    const make = async (repository: string) => {
      const body = { name: unique('p'), repository, configuration: 'steps: []' }
      const made = await app.request('POST', `${org.path}/pipelines`, { token: admin.token, body })
      return async () =>
        (await app.request('GET', `${org.path}/pipelines/${String(made.body.slug)}`, { token: admin.token }))
          .body.provider?.id
    }
    const host = new URL(url).hostname
    const first = await call('POST', '', { type: 'gitea', url: `http://${host}:3000` })
    const [ofFirst, early, ssh, other] = [
      await make(`http://${host}:3000/acme/app.git`),
      await make(`http://${host}:4000/acme/app.git`),
      await make(`git@${host}:acme/app.git`),
      await make(`https://${host}/acme/app.git`),
    ]
    const show = async () => [await ofFirst(), await early(), await ssh(), await other()]
    expect(await show()).toEqual(['gitea', 'gitea', 'gitea', 'gitea'])
    const second = await call('POST', '', { type: 'gitlab', url: `http://${host}:4000/` })
    expect([second.status, second.body.display_name]).toEqual([201, `GitLab at ${host}:4000`])
    expect(await show()).toEqual(['gitea', 'gitlab_ee', 'gitea', 'gitea'])
    expect((await call('POST', '', { type: 'git', url: `http://${host}:4000/again` })).status).toBe(422)
    const later = await make(`http://${host}:4000/acme/later.git`)
    expect(await later()).toBe('gitlab_ee')
    // At https's usual port.
    await call('PATCH', String(second.body.id), { url: `https://${host}` })
    expect([...(await show()), await later()]).toEqual(['gitea', 'gitea', 'gitea', 'gitlab_ee', 'gitea'])
    await call('DELETE', String(first.body.id))
    expect(await show()).toEqual(['gitlab_ee', 'gitlab_ee', 'gitlab_ee', 'gitlab_ee'])
    await call('DELETE', String(second.body.id))
    expect(await show()).toEqual(['private', 'private', 'private', 'private'])
  })

  it('makes the pipelines on the host show it as their provider', async () => {
    const url = aHost()
    const make = async (repository: string) => {
      const body = { name: unique('p'), repository, configuration: 'steps: []' }
      const made = await app.request('POST', `${org.path}/pipelines`, { token: admin.token, body })
      return made.body
    }
    const provider = async (slug: unknown) =>
      (await app.request('GET', `${org.path}/pipelines/${slug}`, { token: admin.token })).body.provider
    const before = await make(`git@${hostOf(url)}:acme/app.git`)
    expect((await provider(before.slug))?.id).toBe('private')
    const { body } = await call('POST', '', { type: 'forgejo', url })
    expect(await provider(before.slug)).toMatchObject({
      id: 'forgejo',
      settings: { repository: 'acme/app', build_pull_requests: true, trigger_mode: 'code' },
    })
    const after = await make(`${url}:8443/acme/other.git`)
    expect(after.provider?.id).toBe('forgejo')
    await call('DELETE', String(body.id))
    expect([(await provider(before.slug))?.id, (await provider(after.slug))?.id]).toEqual([
      'private',
      'private',
    ])
  })

  it('is for administrators with the scope', async () => {
    const member = await aMember(app, org)
    expect((await call('POST', '', { type: 'gitea', url: aHost() }, member.token)).status).toBe(403)
    expect((await call('GET', '', undefined, member.token)).status).toBe(403)
    const reader = await aToken(app, admin, { scopes: ['read_organization_repository_connections'] })
    expect((await call('GET', '', undefined, reader)).status).toBe(200)
    expect((await call('POST', '', { type: 'gitea', url: aHost() }, reader)).status).toBe(403)
  })
})

describe('PATCH /organizations/{org.slug}/repository_connections/{id}', () => {
  const made = async () => {
    const { body } = await call('POST', '', { type: 'gitea', url: aHost(), token, webhook_secret })
    return body
  }
  const secretOf = async (id: unknown) => {
    const row = await app.db
      .selectFrom('repository_connections')
      .select(['token_sealed', 'token_key_id'])
      .where('id', '=', String(id))
      .executeTakeFirstOrThrow()
    return row.token_sealed === null ? null : app.ctx.keys.open(row.token_sealed, row.token_key_id ?? '')
  }

  it('keeps a secret that comes back masked, replaces one that is new, and deletes one that is null', async () => {
    const before = await made()
    const id = String(before.id)
    const same = await call('PATCH', id, { token: before.token, webhook_secret: before.webhook_secret })
    expect([same.status, same.body]).toEqual([200, before])
    expect(await secretOf(id)).toBe(token)
    expect((await call('PUT', id, { token: 'another-token-4321' })).body.token).toBe('XXXXXXXXXXXXXX4321')
    expect(await secretOf(id)).toBe('another-token-4321')
    expect((await auditTrail(app, org, 'SCM_REPOSITORY_HOST_UPDATED')).at(-1)).toMatchObject({
      data: { token_changed: true },
    })
    expect((await call('PATCH', id, { token: null })).body.token).toBeNull()
    expect(await secretOf(id)).toBeNull()
  })

  it('does not send a token to another address than it was given for', async () => {
    const { id } = await made()
    for (const body of [{ url: aHost() }, { api_url: 'https://evil.example.com' }]) {
      const answer = await call('PATCH', String(id), body)
      expect([answer.status, answer.body.message]).toEqual([
        422,
        expect.stringMatching(/token is required when/),
      ])
    }
    const url = aHost()
    const anew = { url, token, webhook_secret: 'a new secret' }
    expect((await call('PATCH', String(id), anew)).body).toMatchObject({
      url,
      api_url: `${url}/api/v1`,
      repository_host: hostOf(url),
    })
  })
})

describe('DELETE /organizations/{org.slug}/repository_connections/{id}', () => {
  it('answers 204 and deletes it', async () => {
    const { body } = await call('POST', '', { type: 'gitea', url: aHost() })
    expect((await call('DELETE', String(body.id))).status).toBe(204)
    expect((await call('GET', String(body.id))).status).toBe(404)
    expect((await call('DELETE', String(body.id))).status).toBe(404)
    expect(await auditTrail(app, org, 'SCM_REPOSITORY_HOST_DESTROYED')).not.toEqual([])
  })
})
