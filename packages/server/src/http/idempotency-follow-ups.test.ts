// Follow-ups of a change with an Idempotency-Key run after its commit, in transactions of their own.
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { untilBlocked, useApp } from '../../test/app.ts'
import { anAdmin, anOrganization, aPipeline } from '../../test/builders.ts'
import { aBuild, buildState, statesOf } from '../../test/runs.ts'
import { decideGroup } from '../conductor/concurrency.ts'

const app = useApp()

describe('a change with an Idempotency-Key', () => {
  it('does not hold its build while it waits for a concurrency group', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const pipeline = await aPipeline(app, org, '[{command: a, concurrency: 1, concurrency_group: gate}]')
    const first = await aBuild(app, org, pipeline)
    const second = await aBuild(app, org, pipeline)
    const cancel = () =>
      app.request('PUT', `${pipeline.path}/builds/${first.number}/cancel`, {
        token: admin.token,
        headers: { 'Idempotency-Key': 'cancel the first' },
      })
    // As decideGroup does: the group's lock first, then that of the build.
    const canceling = await app.db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended(${`${org.id} gate`}, 0))`.execute(trx)
      const asked = cancel()
      await untilBlocked(app)
      await sql`select from build_tallies where build_id = ${first.id} for update nowait`.execute(trx)
      return { asked }
    })
    const [answer] = await Promise.all([
      canceling.asked,
      decideGroup(app.ctx, { organizationId: org.id, group: 'gate', untrusted: false }),
    ])
    expect(answer.status).toBe(200)
    expect(await buildState(app, first)).toBe('canceled')
    expect(await statesOf(app, second)).toEqual({ a: 'scheduled' })
    const again = await cancel()
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(again.text).toBe(answer.text)
  })

  it('makes triggered builds in transactions of their own', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const child = await aPipeline(app, org, '[{command: b}]')
    const parent = await aPipeline(app, org, `[{trigger: ${child.slug}}]`)
    const answer = await app.request('POST', `${parent.path}/builds`, {
      token: admin.token,
      body: { commit: 'HEAD', branch: 'main' },
      headers: { 'Idempotency-Key': 'with a child' },
    })
    expect(answer.status).toBe(201)
    const { rows } = await sql<{ transactions: number }>`
      select count(distinct e.xmin::text)::int as transactions from (
        select min(e.id) as first from events e where e.organization_id = ${org.id} group by e.build_id) b
      join events e on e.id = b.first`.execute(app.db)
    expect(rows).toEqual([{ transactions: 2 }])
  })

  it('that is refused leaves nothing to follow', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const pipeline = await aPipeline(app, org, '[{command: a}]')
    const build = await aBuild(app, org, pipeline)
    const cancel = (key: string) =>
      app.request('PUT', `${pipeline.path}/builds/${build.number}/cancel`, {
        token: admin.token,
        headers: { 'Idempotency-Key': key },
      })
    expect((await cancel('one')).status).toBe(200)
    expect((await cancel('two')).status).toBe(422)
  })
})
