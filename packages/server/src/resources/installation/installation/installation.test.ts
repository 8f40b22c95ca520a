import { describe, expect, it } from 'vitest'
import { useOwnApp } from '../../../../test/app.ts'
import { aMember, anAdmin, anOrganization } from '../../../../test/builders.ts'
import { aSession } from '../../../../test/sessions.ts'
import { addOperator, removeOperator } from '../../people/user/operators.ts'

const app = useOwnApp()

const origin = { kind: 'operator', command: 'user operator' } as const

describe('GET /v2/installation', () => {
  it('answers operators who signed in themselves, until they are operators no more', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const session = await aSession(app, admin)
    const get = () => app.request('GET', '/v2/installation', { headers: session })
    const may = async () =>
      (await app.request('GET', '/v2/user?include_viewer=true', { headers: session })).body['viewer']
    expect(await may()).toEqual({ may: { see_installation: false } })
    expect((await get()).status).toBe(403)
    await addOperator(app.db, origin, admin.email)
    expect(await may()).toEqual({ may: { see_installation: true } })
    const { status, body } = await get()
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        organizations_count: expect.any(Number),
        organizations: expect.arrayContaining([
          expect.objectContaining({ slug: org.slug, members: 1, pipelines: 0 }),
        ]),
        last_backup: null,
        schedules: { enabled: 0, next_build_at: null },
      }),
    ])
    await removeOperator(app.db, origin, admin.email)
    expect((await get()).status).toBe(403)
  })

  it('answers 403 to the access token of an operator, and to administrators', async () => {
    const org = await anOrganization(app)
    const [operator, member] = [await anAdmin(app, org), await aMember(app, org)]
    await addOperator(app.db, origin, operator.email)
    for (const { token } of [operator, member])
      expect((await app.request('GET', '/v2/installation', { token })).status).toBe(403)
    const bySso = await aSession(app, operator, { how: 'sso', organizationId: org.id })
    expect((await app.request('GET', '/v2/installation', { headers: bySso })).status).toBe(403)
    const byLink = await aSession(app, operator, { how: 'link' })
    expect((await app.request('GET', '/v2/installation', { headers: byLink })).status).toBe(200)
  })
})
