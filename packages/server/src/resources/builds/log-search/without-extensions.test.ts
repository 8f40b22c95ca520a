// A role of the database that may add no extensions.
import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { anAgentWorld } from '../../../../test/agent-client.ts'
import { useOwnApp, type Json } from '../../../../test/app.ts'
import { unique } from '../../../../test/builders.ts'
import { aRunningJob, compactLogs, endLongAgo, sendLog } from '../../../../test/job-runs.ts'
import { listMigrations } from '../../../db/migrate.ts'

const app = useOwnApp()

it('migrates and searches without pg_trgm, whose index is only faster', async () => {
  await sql`drop extension pg_trgm cascade`.execute(app.db)
  await sql`drop extension btree_gin cascade`.execute(app.db)
  const migration = (await listMigrations()).find(({ name }) => name.endsWith('_create_log_findings'))
  const [block = ''] = /^do \$\$[^]*?^end \$\$;/m.exec(migration?.sql ?? '') ?? []
  expect(block).toContain('create extension')
  const role = sql.id(unique('narrow').replaceAll('-', '_'))
  await sql`create role ${role}`.execute(app.db)
  onTestFinished(async () => void (await sql`drop role ${role}`.execute(app.db)))
  await app.db.transaction().execute(async (trx) => {
    await sql`set local role ${role}`.execute(trx)
    await sql.raw(block).execute(trx)
  })
  const { rows } = await sql<{ name: string }>`
    select extname as name from pg_extension where extname in ('pg_trgm', 'btree_gin')
    union all select indexname from pg_indexes where indexname = 'log_findings_text'`.execute(app.db)
  expect(rows).toEqual([])

  const world = await anAgentWorld(app)
  const scene = await aRunningJob(app, undefined, world)
  await sendLog(app, scene.run, 'the potoroo escaped\r\nnothing else\r\n')
  await endLongAgo(app, scene.run, 1)
  await compactLogs(app.ctx)
  for (const query of ['q=POTOROO', 'q=potoroo&in=logs', 'q=p.t.roo&regex=true', 'q=po']) {
    const { status, body } = await app.request('GET', `${world.org.path}/log-search?${query}`, {
      token: world.admin.token,
    })
    expect(status).toBe(200)
    expect((body.hits as unknown as Json[]).map(({ text }) => text)).toEqual(['the potoroo escaped'])
  }
})
