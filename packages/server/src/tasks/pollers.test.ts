import { sql, type RawBuilder } from 'kysely'
import { describe, expect, it } from 'vitest'
import { eventually, useOwnApp } from '../../test/app.ts'
import { anOrganization, aPipeline } from '../../test/builders.ts'
import { aBuild } from '../../test/runs.ts'
import { pollers } from '../worker.ts'
import { startPollers } from './pollers.ts'

const app = useOwnApp()

const holds = async (condition: RawBuilder<boolean> | undefined) => {
  if (condition === undefined) throw new Error('The poller has no condition.')
  const { rows } = await sql<{ has: boolean }>`select ${condition} as has`.execute(app.db)
  return rows[0]?.has
}

describe('a poller with a condition', () => {
  it('runs when the condition holds, and not before', async () => {
    const runs: string[] = []
    const poller = (name: string, hasWork: RawBuilder<boolean>) => ({
      everySeconds: 0,
      hasWork,
      run: async () => runs.push(name),
    })
    const polling = startPollers(app.ctx.log, app.db, app.ctx, {
      always: poller('always', sql<boolean>`true`),
      awaiting: poller('awaiting', sql<boolean>`exists (select from organizations where slug = 'awaited')`),
    })
    await eventually('the first has run', async () => runs.length > 0)
    expect(runs).not.toContain('awaiting')
    await anOrganization(app, { slug: 'awaited' })
    await eventually('the second has run', async () => runs.includes('awaiting'))
    await polling.stop()
  })

  it('is not disturbed by one that fails', async () => {
    let count = 0
    const polling = startPollers(app.ctx.log, app.db, app.ctx, {
      failing: { everySeconds: 0, hasWork: sql<boolean>`true`, run: () => Promise.reject(new Error('No.')) },
      counting: { everySeconds: 0, hasWork: sql<boolean>`true`, run: async () => count++ },
    })
    await eventually('it has run twice', async () => count > 1)
    await polling.stop()
    expect(app.logLines.some((line) => line.includes('A poller failed.'))).toBe(true)
  })
})

describe('the condition of', () => {
  const never = new AbortController().signal
  const { sweep, update_statuses, enqueue_polls, fire_schedules, delete_builds } = pollers

  it.each([
    ['sweep', sweep, () => sql`update jobs set deadline_at = now() - interval '1 second'`],
    ['enqueue_polls', enqueue_polls, () => sql`update pipelines set poll_interval_seconds = 60`],
    ['update_statuses', update_statuses, () => sql`select`],
    [
      'fire_schedules',
      fire_schedules,
      () => sql`
        insert into pipeline_schedules (id, organization_id, pipeline_id, label, cronline, next_build_at)
        select gen_random_uuid(), organization_id, id, 'often', '@hourly', now() - interval '1 second' from pipelines`,
    ],
    ['delete_builds', delete_builds, () => sql`delete from pipelines`],
  ] as const)('%s holds while there is work, and not afterwards', async (_name, poller, work) => {
    await poller?.run(app.ctx, never)
    expect(await holds(poller?.hasWork)).toBe(false)
    const org = await anOrganization(app)
    await aBuild(app, org, await aPipeline(app, org, 'steps: [{ command: one }]'))
    await work().execute(app.db)
    expect(await holds(poller?.hasWork)).toBe(true)
    await poller?.run(app.ctx, never)
    expect(await holds(poller?.hasWork)).toBe(false)
  })
})
