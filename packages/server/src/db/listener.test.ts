import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { eventually, useApp } from '../../test/app.ts'
import { listen } from './listener.ts'

const app = useApp()

it('hears what is announced, and again after its connection was cut', async () => {
  const heard: string[] = []
  let connected = 0
  const errors: unknown[] = []
  const listener = await listen(app.database.pool, {
    channels: { listener_test: (payload) => void heard.push(payload) },
    onConnected: () => void connected++,
    onError: (error) => void errors.push(error),
  })
  await sql`select pg_notify('listener_test', 'one')`.execute(app.db)
  await eventually('hears the first', async () => heard.includes('one'))
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen listener_test'`.execute(
    app.db,
  )
  await eventually('is connected again', async () => connected === 2)
  await sql`select pg_notify('listener_test', 'two')`.execute(app.db)
  await eventually('hears the second', async () => heard.includes('two'))
  expect(errors).toHaveLength(1)
  await listener.stop()
  await eventually('lets go of its connection', async () => {
    const { rows } = await sql`select from pg_stat_activity where query = 'listen listener_test'`.execute(
      app.db,
    )
    return rows.length === 0
  })
})
