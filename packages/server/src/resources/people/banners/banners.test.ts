import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../../../test/app.ts'
import { aMember, anAdmin, anOrganization, auditTrail } from '../../../../test/builders.ts'
import { graphqlId } from '../../../lib/ids.ts'

const app = useApp()

async function aPlace() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const ask = (method: string, body?: object, token = admin.token) =>
    app.request(method, `${org.path}/banners`, { token, body })
  return { org, admin, member: await aMember(app, org), ask }
}

describe('/v2/organizations/{org.slug}/banners', () => {
  it('is set by administrators, changed, shown to all members, and deleted', async () => {
    const { org, admin, member, ask } = await aPlace()
    expect((await ask('GET')).list).toEqual([])
    const made = await ask('PUT', { message: 'Deploys are frozen.' })
    expect([made.status, made.body]).toEqual([
      200,
      {
        id: expect.any(String),
        graphql_id: graphqlId('OrganizationBanner', String(made.body.id)),
        url: `${baseUrl}${org.path}/banners`,
        message: 'Deploys are frozen.',
        created_at: expect.any(String),
        updated_at: made.body.created_at,
        created_by: expect.objectContaining({ id: admin.id }),
      },
    ])
    expect((await ask('GET', undefined, member.token)).list).toEqual([made.body])
    expect((await ask('PUT', { message: 'Deploys are frozen.' })).body).toEqual(made.body)
    const changed = (await ask('PUT', { message: 'Go on.' })).body
    expect(changed).toEqual({ ...made.body, message: 'Go on.', updated_at: expect.any(String) })
    expect((await ask('DELETE')).status).toBe(204)
    expect((await ask('GET')).list).toEqual([])
    expect(await ask('DELETE')).toMatchObject({
      status: 404,
      body: { message: 'No banner found: the organization does not have an active banner' },
    })
    for (const [type, data] of [
      ['ORGANIZATION_BANNER_CREATED', { message: 'Deploys are frozen.' }],
      ['ORGANIZATION_BANNER_UPDATED', { message: 'Go on.' }],
      ['ORGANIZATION_BANNER_DELETED', {}],
    ] as const) {
      expect(await auditTrail(app, org, type)).toMatchObject([{ subject: { uuid: made.body.id }, data }])
    }
  })

  it('answers 403 to members, and 422 to an empty message', async () => {
    const { member, ask } = await aPlace()
    expect((await ask('PUT', { message: 'x' }, member.token)).status).toBe(403)
    expect((await ask('DELETE', undefined, member.token)).status).toBe(403)
    expect((await ask('PUT', { message: ' ' })).status).toBe(422)
  })
})
