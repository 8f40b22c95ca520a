import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { eventually, useApp } from '../../test/app.ts'
import { listen } from './listener.ts'
import { openDatabase } from './pool.ts'

const app = useApp()

it('hears what is announced, and again after its connection was cut', async () => {
  const heard: string[] = []
  let connected = 0
  const errors: unknown[] = []
  // Its connections have a name of their own, because the statements of a listener change.
  const database = openDatabase(app.database.pool.options, {
    applicationName: 'listener_test',
    limits: { connectSeconds: 120, statementSeconds: 120 },
  })
  const listener = await listen(database.pool, {
    channels: { listener_test: (payload) => void heard.push(payload) },
    onConnected: () => void connected++,
    onError: (error) => void errors.push(error),
  })
  await sql`select pg_notify('listener_test', 'one')`.execute(app.db)
  await eventually('hears the first', async () => heard.includes('one'))
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listener_test'`.execute(
    app.db,
  )
  await eventually('is connected again', async () => connected === 2)
  await sql`select pg_notify('listener_test', 'two')`.execute(app.db)
  await eventually('hears the second', async () => heard.includes('two'))
  expect(errors).toHaveLength(1)
  await listener.stop()
  await eventually('lets go of its connection', async () => {
    const { rows } = await sql`
      select from pg_stat_activity where application_name = 'listener_test'`.execute(app.db)
    return rows.length === 0
  })
  await database.close()
})
