import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { useOwnApp, type TestApp } from '../../../../test/app.ts'
import { aMember, anAdmin, anOrganization, aPipeline, aTeam, inTeam } from '../../../../test/builders.ts'
import { fireDueSchedules } from './fire.ts'

const app = useOwnApp()
const configuration = 'steps:\n  - command: make\n'

// Schedules of all organizations are fired together, so each test begins with none.
beforeEach(async () => {
  await app.db.deleteFrom('pipeline_schedules').execute()
})

async function aSchedule(given: object = {}, text = configuration) {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const pipeline = await aPipeline(app, org, text)
  const answer = await app.request('POST', `${pipeline.path}/schedules`, {
    token: admin.token,
    body: { cronline: '0 3 * * *', ...given },
  })
  const id = String(answer.body.id)
  const path = `${pipeline.path}/schedules/${id}`
  const due = (next_build_at: string) =>
    app.db.updateTable('pipeline_schedules').set({ next_build_at }).where('id', '=', id).execute()
  const builds = () =>
    app.db.selectFrom('builds').selectAll().where('pipeline_id', '=', pipeline.id).orderBy('number').execute()
  const read = async () => (await app.request('GET', path, { token: admin.token })).body
  return { org, admin, pipeline, id, path, due, builds, read }
}

const at = (now: string, { ctx }: TestApp = app) => ({ ...ctx, now: () => new Date(now) })

describe('fireDueSchedules', () => {
  it('creates the build in the name of the last editor of the schedule (abuse cases 19, R4)', async () => {
    const { org, path, due, builds } = await aSchedule({ branch: 'trunk' })
    const editor = await aMember(app, org)
    const body = { branch: 'release', env: { TARGET: 'production' } }
    await app.request('PATCH', path, { token: editor.token, body })
    await due('2030-01-01T03:00:00.000Z')
    await fireDueSchedules(at('2030-01-01T03:00:07Z'))
    expect(await builds()).toMatchObject([{ creator_id: editor.id, branch: 'release' }])
  })

  it('does not run as a user who has left or lost access (abuse cases 19, R4)', async () => {
    const { org, admin, path, pipeline, due, builds, read } = await aSchedule()
    const owner = await aMember(app, org)
    const edit = (token: string) => app.request('PATCH', path, { token, body: { label: 'Mine' } })
    const refused = {
      failed_message:
        'The owner of the schedule may no longer build this pipeline. Whoever edits the schedule becomes its owner.',
    }
    await edit(owner.token)
    const team = await aTeam(app, org, admin)
    await inTeam(app, team, admin, owner)
    await app.request('POST', `${team.path}/pipelines`, {
      token: admin.token,
      body: { pipeline_id: pipeline.id, access_level: 'read_only' },
    })
    await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
    await due('2030-01-01T03:00:00.000Z')
    await fireDueSchedules(at('2030-01-01T03:00:07Z'))
    expect([await builds(), await read()]).toMatchObject([[], refused])
    await app.request('DELETE', `${org.path}/members/${owner.id}`, { token: admin.token })
    await fireDueSchedules(at('2030-01-02T03:00:07Z'))
    expect([await builds(), await read()]).toMatchObject([[], refused])
    await edit(admin.token)
    await fireDueSchedules(at('2030-01-03T03:00:07Z'))
    expect([await builds(), await read()]).toMatchObject([
      [{ creator_id: admin.id }],
      { failed_message: null },
    ])
  })

  it('makes the build that the schedule asks for and moves the next time', async () => {
    const { admin, due, builds, read } = await aSchedule({
      label: 'Nightly',
      branch: 'trunk',
      commit: 'abc',
      env: { FULL: 'true' },
    })
    await due('2030-01-01T03:00:00.000Z')
    expect(await fireDueSchedules(at('2030-01-01T02:59:59Z'))).toBe(0)
    expect(await fireDueSchedules(at('2030-01-01T03:00:07Z'))).toBe(1)
    expect(await builds()).toMatchObject([
      {
        number: 1,
        source: 'schedule',
        creator_id: admin.id,
        message: 'Nightly',
        branch: 'trunk',
        commit: 'abc',
        env: { FULL: 'true' },
        scheduled_at: '2030-01-01T03:00:00.000Z',
        created_at: '2030-01-01T03:00:07.000Z',
      },
    ])
    expect(await read()).toMatchObject({ next_build_at: '2030-01-02T03:00:00.000Z', failed_message: null })
    expect(await fireDueSchedules(at('2030-01-01T04:00:00Z'))).toBe(0)
  })

  it('takes the branch that is the default of the pipeline by then', async () => {
    const { pipeline, due, builds } = await aSchedule({ message: 'Said' })
    await due('2030-01-01T03:00:00.000Z')
    await app.db
      .updateTable('pipelines')
      .set({ default_branch: 'next' })
      .where('id', '=', pipeline.id)
      .execute()
    await fireDueSchedules(at('2030-01-01T03:00:00Z'))
    expect(await builds()).toMatchObject([{ branch: 'next', commit: 'HEAD', message: 'Said' }])
  })

  it('fires once for all times that were missed', async () => {
    const { due, builds, read } = await aSchedule()
    await due('2030-01-01T03:00:00.000Z')
    expect(await fireDueSchedules(at('2030-01-20T12:00:00Z'))).toBe(1)
    expect(await builds()).toHaveLength(1)
    expect((await read()).next_build_at).toBe('2030-01-21T03:00:00.000Z')
  })

  it('fires each exactly once, however many workers look', async () => {
    const places = await Promise.all(Array.from({ length: 8 }, () => aSchedule()))
    await Promise.all(places.map(({ due }) => due('2030-01-01T03:00:00.000Z')))
    const counts = await Promise.all(
      Array.from({ length: 6 }, () => fireDueSchedules(at('2030-01-01T03:00:01Z'))),
    )
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(8)
    expect(await Promise.all(places.map(async ({ builds }) => (await builds()).length))).toEqual(
      Array(8).fill(1),
    )
  })

  it('records why there is no build, uses no number, stays enabled and tries again', async () => {
    const { pipeline, due, builds, read } = await aSchedule({}, 'steps:\n  - command: make ${TARGET?}\n')
    await due('2030-01-01T03:00:00.000Z')
    expect(await fireDueSchedules(at('2030-01-01T03:00:00Z'))).toBe(1)
    expect(await builds()).toEqual([])
    expect(await read()).toMatchObject({
      enabled: true,
      next_build_at: '2030-01-02T03:00:00.000Z',
      failed_message: expect.stringMatching(/^Validation Failed: configuration line 2, column .*TARGET/),
      failed_at: '2030-01-01T03:00:00.000Z',
    })
    await app.db.updateTable('pipelines').set({ configuration }).where('id', '=', pipeline.id).execute()
    await fireDueSchedules(at('2030-01-02T03:00:00Z'))
    expect(await builds()).toMatchObject([{ number: 1 }])
    expect(await read()).toMatchObject({ failed_message: null, failed_at: null })
  })

  it('records that the pipeline is archived, or does not build the branch', async () => {
    const [archived, filtered] = [await aSchedule(), await aSchedule()]
    const change = (id: string, to: object) =>
      app.db.updateTable('pipelines').set(to).where('id', '=', id).execute()
    await change(archived.pipeline.id, { archived_at: '2029-01-01T00:00:00Z' })
    await change(filtered.pipeline.id, { branch_configuration: '!main' })
    for (const { due } of [archived, filtered]) await due('2030-01-01T03:00:00.000Z')
    expect(await fireDueSchedules(at('2030-01-01T03:00:00Z'))).toBe(2)
    expect((await archived.read()).failed_message).toContain('archived')
    expect((await filtered.read()).failed_message).toContain('branch')
  })

  it('does not fire what is disabled', async () => {
    const { admin, path, due, builds } = await aSchedule()
    await due('2030-01-01T03:00:00.000Z')
    await app.request('PATCH', path, { token: admin.token, body: { enabled: false } })
    expect(await fireDueSchedules(at('2030-01-01T03:00:00Z'))).toBe(0)
    expect(await builds()).toEqual([])
  })

  it('lets one that breaks wait for its next time, and fires the others', async () => {
    const [broken, sound] = [await aSchedule(), await aSchedule()]
    await broken.due('2030-01-01T03:00:00.000Z')
    await sound.due('2030-01-01T03:00:01.000Z')
    await app.db
      .updateTable('pipelines')
      .set({ last_build_number: 2_147_483_647 })
      .where('id', '=', broken.pipeline.id)
      .execute()
    expect(await fireDueSchedules(at('2030-01-01T03:00:02Z'))).toBe(2)
    expect(await sound.builds()).toHaveLength(1)
    expect(await broken.read()).toMatchObject({
      next_build_at: '2030-01-02T03:00:00.000Z',
      failed_message: 'The build could not be made because something went wrong on our side.',
    })
  })

  describe('when many are due at the same time', () => {
    const many = async (count: number) => {
      const { id, due } = await aSchedule()
      await due('2030-01-01T03:00:00.000Z')
      await sql`
        insert into pipeline_schedules (id, organization_id, pipeline_id, cronline, next_build_at, created_by)
        select gen_random_uuid(), organization_id, pipeline_id, cronline, next_build_at, created_by
        from pipeline_schedules, generate_series(2, ${count}::int) where id = ${id}`.execute(app.db)
    }
    const fireAt = async (seconds: string) => fireDueSchedules(at(`2030-01-01T03:00:${seconds}Z`))

    it('fires 20 at once, and spreads more over ten seconds', async () => {
      await many(20)
      expect(await fireAt('00')).toBe(20)
      await app.db.deleteFrom('pipeline_schedules').execute()
      await many(45)
      const early = await fireAt('05')
      expect(early).toBeGreaterThan(0)
      expect(early).toBeLessThan(45)
      expect(early + (await fireAt('10'))).toBe(45)
    })

    it('fires at most 50 before it pauses', async () => {
      await many(60)
      expect([await fireAt('10'), await fireAt('11'), await fireAt('12')]).toEqual([50, 10, 0])
    })

    it('spreads none if MILLRACE_SCHEDULE_SPREAD_SECONDS is 0', async () => {
      await many(25)
      const ctx = at('2030-01-01T03:00:00Z')
      const config = { ...ctx.config, scheduleSpreadSeconds: 0 }
      expect(await fireDueSchedules({ ...ctx, config })).toBe(25)
    })
  })
})
