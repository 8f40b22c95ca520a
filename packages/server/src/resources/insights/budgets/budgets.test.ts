import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { eventually, type Json } from '../../../../test/app.ts'
import {
  aMember,
  aPipeline,
  aTeam,
  auditTrail,
  inTeam,
  withFeature,
  withoutFeature,
  type TestOrganization,
} from '../../../../test/builders.ts'
import { useNotifications, type TestService } from '../../../../test/notifications.ts'
import type { Context } from '../../../context.ts'
import { newId } from '../../../lib/ids.ts'
import { handlers } from '../../../worker.ts'
import { foldJobEnds } from '../insights/fold.ts'
import { monthOf } from './month.ts'

const { app, anOrg, aService } = useNotifications()

const check = (ctx: Context = app.ctx) => handlers.check_budgets(ctx, {})

/** Jobs of the pipeline have cost that much. */
async function spend(org: TestOrganization, pipeline: { id: string }, amount: number, at = new Date()) {
  await sql`
    insert into job_ends (organization_id, job_id, build_id, pipeline_id, step, ended_at, has_failed, is_retry, run_ms, price_micros)
    values (${org.id}, ${newId()}, ${newId()}, ${pipeline.id}, 'a', ${at.toISOString()}, false, false, 60000,
      ${Math.round(amount * 1_000_000)})`.execute(app.db)
  await foldJobEnds(app.ctx, new AbortController().signal)
}

async function aWorld() {
  const { org, admin } = await anOrg()
  const pipeline = await aPipeline(app, org, 'steps: [{ command: a }]')
  const team = await aTeam(app, org, admin)
  await app.request('POST', `${team.path}/pipelines`, {
    token: admin.token,
    body: { pipeline_id: pipeline.id, access_level: 'read_only' },
  })
  const path = `${org.path}/budgets`
  const ask = (method: string, at = path, body?: object, token = admin.token) =>
    app.request(method, at, { token, ...(body === undefined ? {} : { body }) })
  const create = async (body: object): Promise<Json> => {
    const answer = await ask('POST', path, body)
    expect(answer.status).toBe(201)
    return answer.body
  }
  return { org, admin, pipeline, team, path, ask, create }
}

/** As receivers see them, when so many have arrived. */
const noticesTo = (service: TestService, count: number) =>
  eventually(`${count} notices`, async () => {
    const bodies = service.events()
    return bodies.length >= count && bodies.map(({ budget }) => budget as unknown as Record<string, unknown>)
  })

const noticesOf = async (org: TestOrganization) =>
  (await auditTrail(app, org, 'BUDGET_REACHED')).map(
    ({ data }) => `${Reflect.get(data as object, 'month')} ${Reflect.get(data as object, 'share')}`,
  )

const thisMonth = () => monthOf(new Date()).name
const nextMonth = () => new Date(monthOf(new Date()).to)

describe('/v2/organizations/{org.slug}/budgets', () => {
  it('administrators create, change and delete those of pipelines and teams', async () => {
    const { org, admin, pipeline, team, path, ask, create } = await aWorld()
    await ask('PATCH', `${org.path}/pipeline-settings`, { currency: 'EUR' })
    const ofPipeline = await create({ pipeline_id: pipeline.id, amount: 40 })
    const ofTeam = await create({ team_id: team.id, amount: 100.5 })
    await spend(org, pipeline, 10)
    await spend(org, pipeline, 0.005)
    await spend(org, pipeline, 1000, new Date(Date.parse(monthOf(new Date()).from) - 1))
    await spend(org, await aPipeline(app, org, 'steps: [{ command: a }]'), 500)
    const { list } = await ask('GET')
    expect(list).toEqual([
      {
        ...ofPipeline,
        pipeline: { id: pipeline.id, slug: pipeline.slug, name: expect.any(String) },
        team: null,
        amount: 40,
        currency: 'EUR',
        month: thisMonth(),
        spent: 10.005,
        percent: 25,
      },
      {
        ...ofTeam,
        pipeline: null,
        team: { id: team.id, slug: expect.any(String), name: team.name },
        amount: 100.5,
        spent: 10.005,
        percent: 9.9,
      },
    ])
    expect(list[0]).toMatchObject({ created_by: { id: admin.id }, url: expect.stringContaining(path) })
    const at = `${path}/${ofPipeline['id']}`
    expect((await ask('PATCH', at, { amount: 20 })).body).toMatchObject({ amount: 20, percent: 50 })
    expect((await ask('GET', at)).body).toMatchObject({ amount: 20, spent: 10.005 })
    expect((await ask('DELETE', at)).status).toBe(204)
    expect((await ask('GET', at)).status).toBe(404)
    expect((await ask('DELETE', at)).status).toBe(404)
    expect(await auditTrail(app, org, 'BUDGET_UPDATED')).toMatchObject([
      { data: { amount: 20, previous: { amount: 40 } } },
    ])
    for (const type of ['BUDGET_CREATED', 'BUDGET_DELETED'] as const)
      expect((await auditTrail(app, org, type))[0]).toMatchObject({ subject: { uuid: ofPipeline['id'] } })
    await app.request('DELETE', team.path, { token: admin.token })
    expect((await ask('GET')).list).toEqual([])
  })

  it('refuses a body with neither or both, an amount of nothing, and a second budget', async () => {
    const { pipeline, team, path, ask, create } = await aWorld()
    for (const body of [
      { amount: 5 },
      { amount: 5, pipeline_id: pipeline.id, team_id: team.id },
      { amount: 0, team_id: team.id },
      { team_id: team.id },
    ])
      expect((await ask('POST', path, body)).status).toBe(422)
    for (const body of [{ pipeline_id: pipeline.id }, { team_id: team.id }]) {
      await create({ ...body, amount: 5 })
      const again = await ask('POST', path, { ...body, amount: 6 })
      expect([again.status, again.text]).toEqual([422, expect.stringContaining('has a budget already')])
    }
  })

  it('members see those of pipelines that they may read and of their teams, and change none', async () => {
    const { org, admin, pipeline, team, path, ask, create } = await aWorld()
    const hidden = await aPipeline(app, org, 'steps: [{ command: a }]')
    const others = await aTeam(app, org, admin)
    const mine = [
      await create({ pipeline_id: pipeline.id, amount: 5 }),
      await create({ team_id: team.id, amount: 5 }),
    ].map(({ id }) => id)
    const theirs = [
      await create({ pipeline_id: hidden.id, amount: 5 }),
      await create({ team_id: others.id, amount: 5 }),
    ].map(({ id }) => id)
    const member = await aMember(app, org)
    await inTeam(app, team, admin, member)
    const seen = async () => (await ask('GET', path, undefined, member.token)).list.map(({ id }) => id)
    expect(await seen()).toEqual([...mine, ...theirs])
    await withoutFeature(app, org, 'members_view_teams')
    expect(await seen()).toEqual([...mine, theirs[0]])
    await withFeature(app, org, 'members_view_teams')
    await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
    expect(await seen()).toEqual(mine)
    for (const id of theirs)
      expect((await ask('GET', `${path}/${id}`, undefined, member.token)).status).toBe(404)
    expect((await ask('POST', path, { team_id: team.id, amount: 1 }, member.token)).status).toBe(403)
    for (const [method, body] of [['PATCH', { amount: 1 }], ['DELETE']] as const)
      expect((await ask(method, `${path}/${mine[0]}`, body, member.token)).status).toBe(403)
  })
})

describe('the notice of a budget', () => {
  it('comes once at 80 % and once at 100 %, whoever checks and whatever is killed', async () => {
    const { org, admin, pipeline, path, ask, create } = await aWorld()
    const budget = await create({ pipeline_id: pipeline.id, amount: 10 })
    const lastNotice = async () => (await ask('GET', `${path}/${budget['id']}`)).body['last_notice']
    const service = await aService(org, admin, { settings: { events: ['budget.reached'] } })
    await spend(org, pipeline, 7.999999)
    await check()
    expect(await noticesOf(org)).toEqual([])
    await spend(org, pipeline, 0.000001)
    const killed = app.db.transaction().execute(async (trx) => {
      await check({ ...app.ctx, db: trx })
      throw new Error('killed')
    })
    await expect(killed).rejects.toThrow('killed')
    expect(await noticesOf(org)).toEqual([])
    expect(await lastNotice()).toBeNull()
    await Promise.all([check(), check(), check()])
    await spend(org, pipeline, 1)
    await check()
    expect(await noticesOf(org)).toEqual([`${thisMonth()} 80`])
    expect(await lastNotice()).toEqual({ share: 80, at: expect.stringMatching(/Z$/) })
    await spend(org, pipeline, 5)
    await Promise.all([check(), check(), check()])
    await check()
    expect(await noticesOf(org)).toEqual([80, 100].map((share) => `${thisMonth()} ${share}`))
    const [first, second] = await noticesTo(service, 2)
    expect(first).toEqual({
      id: budget['id'],
      url: budget['url'],
      web_url: expect.stringMatching(new RegExp(`/organizations/${org.slug}/insights#budgets$`)),
      pipeline: { id: pipeline.id, slug: pipeline.slug, name: expect.any(String) },
      team: null,
      currency: 'USD',
      created_at: budget['created_at'],
      month: thisMonth(),
      share: 80,
      amount: 10,
      spent: 8,
    })
    expect(second).toMatchObject({ share: 100, spent: 14 })
    expect(service.events().map(({ event }) => event)).toEqual(['budget.reached', 'budget.reached'])
  })

  it('comes for both shares when one job reaches both, and anew in the next month', async () => {
    const { org, pipeline, team, create } = await aWorld()
    await create({ team_id: team.id, amount: 10 })
    await spend(org, pipeline, 30)
    await check()
    const both = [80, 100].map((share) => `${thisMonth()} ${share}`)
    expect(await noticesOf(org)).toEqual(both)
    const later = { ...app.ctx, now: () => new Date(nextMonth().getTime() + 60_000) }
    await check(later)
    expect(await noticesOf(org)).toEqual(both)
    await spend(org, pipeline, 9, nextMonth())
    await check(later)
    await check(later)
    expect(await noticesOf(org)).toEqual([...both, `${monthOf(nextMonth()).name} 80`])
  })

  it('comes again after a raise only when its share is reached again', async () => {
    const { org, pipeline, path, ask, create } = await aWorld()
    const { id } = await create({ pipeline_id: pipeline.id, amount: 10 })
    const shares = async () => (await noticesOf(org)).map((notice) => notice.split(' ')[1])
    await spend(org, pipeline, 10)
    await check()
    expect(await shares()).toEqual(['80', '100'])
    // 10 of 12 are still more than 80 %, so only the notice of 100 % may come again.
    await ask('PATCH', `${path}/${id}`, { amount: 12 })
    await check()
    expect(await shares()).toEqual(['80', '100'])
    await spend(org, pipeline, 2)
    await check()
    expect(await shares()).toEqual(['80', '100', '100'])
    const raised = await ask('PATCH', `${path}/${id}`, { amount: 20 })
    expect(raised.body['last_notice']).toMatchObject({ share: 100 })
    await check()
    expect(await shares()).toHaveLength(3)
    await spend(org, pipeline, 4)
    await check()
    expect(await shares()).toEqual(['80', '100', '100', '80'])
    await ask('PATCH', `${path}/${id}`, { amount: 16 })
    await check()
    expect((await shares()).at(-1)).toBe('100')
  })

  it('goes to services of its pipeline and of the teams of both', async () => {
    const { org, admin, pipeline, team, create } = await aWorld()
    const other = await aPipeline(app, org, 'steps: [{ command: a }]')
    const service = (scope: string, id: string) =>
      aService(org, admin, { settings: { events: ['budget.reached'] }, scope, scope_uuids: [id] })
    const ofPipeline = await service('some_projects', pipeline.id)
    const ofTeam = await service('some_teams', team.id)
    const ofOther = await service('some_projects', other.id)
    const budgets = [
      await create({ pipeline_id: pipeline.id, amount: 10 }),
      await create({ team_id: team.id, amount: 10 }),
    ]
    await spend(org, pipeline, 8)
    await check()
    expect(new Set((await noticesTo(ofTeam, 2)).map(({ id }) => id))).toEqual(
      new Set(budgets.map(({ id }) => id)),
    )
    expect((await noticesTo(ofPipeline, 1)).map(({ id }) => id)).toEqual([budgets[0]?.['id']])
    await create({ pipeline_id: other.id, amount: 1 })
    await spend(org, other, 0.8)
    await check()
    expect((await noticesTo(ofOther, 1)).map(({ spent }) => spent)).toEqual([0.8])
    expect(ofPipeline.events()).toHaveLength(1)
  })
})
