import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { openDatabase, type Database } from './pool.ts'

const app = useApp()

const uses: Array<[string, (database: Database) => Promise<unknown>]> = [
  ['by the pool alone', ({ pool }) => pool.query('select 1')],
  ['by the query builder', ({ db }) => sql`select 1`.execute(db)],
  ['by nobody', async () => {}],
]

it.each(uses)('a database that was used %s has no connection left when it is closed', async (_, use) => {
  const database = openDatabase(app.database.pool.options)
  await use(database)
  await database.close()
  expect(database.pool.totalCount).toBe(0)
  await expect(database.pool.query('select 1')).rejects.toThrow(/after calling end/)
})
