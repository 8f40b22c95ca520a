import { describe, expect, it, onTestFinished } from 'vitest'
import { useOwnApp } from '../../test/app.ts'
import { findBreaking } from '../../test/breaking-changes.ts'
import { listMigrations, migrate } from './migrate.ts'

const app = useOwnApp()

/** The last one before the rule. */
const lastFreeName = '202611160400_fewer_indexes_of_jobs'

describe('migrations', () => {
  it('only add, unless they say which version they need', async () => {
    const bound = (await listMigrations()).filter(({ name }) => name > lastFreeName)
    expect(
      bound.flatMap(({ name, sql, needs }) =>
        needs === null ? findBreaking(sql).map((what) => `${name}: ${what}`) : [],
      ),
    ).toEqual([])
  })

  it.each([
    ['alter table jobs drop column token_hash', ['drop column']],
    ['alter table jobs rename column a to b', ['rename']],
    ['alter table jobs alter column a type bigint', ['alter column type']],
    ['alter table jobs alter a set data type bigint', ['alter column type']],
    ['alter table jobs alter column a set not null', ['set not null']],
    ['alter table jobs add column a text not null', ['add column not null without default']],
    ['drop table jobs', ['drop table']],
    ['alter table jobs add column a text not null default $$x$$, add b int', []],
    ['create table t (a text not null); create index i on t (a); drop index j', []],
    ['alter table t drop column a; alter table t add column a text generated always as (b) stored', []],
    ['alter table t drop column a; alter table t add column ab text', ['drop column']],
    ['-- never drop table by hand\nalter table jobs add column a text', []],
  ])('%s: %j', (sql, found) => {
    expect(findBreaking(sql)).toEqual(found)
  })
})

describe('an older server on a newer schema', () => {
  const newer = async (needs: string | null) => {
    const { pool } = app.database
    const name = '999901010000_of_the_future'
    await pool.query('insert into migrations (name, sha256) values ($1, $2)', [name, ''])
    if (needs !== null)
      await pool.query('insert into migration_contracts (name, needs) values ($1, $2)', [name, needs])
    onTestFinished(async () => {
      await pool.query('delete from migrations where name = $1', [name])
      await pool.query('delete from migration_contracts where name = $1', [name])
    })
  }

  it('starts when all that is new only adds', async () => {
    await newer(null)
    expect(await migrate(app.database.pool)).toEqual([])
  })

  it('starts when it is not older than what is needed', async () => {
    await newer('0.0.9')
    expect(await migrate(app.database.pool)).toEqual([])
  })

  it('refuses with what to do when something it may read is gone', async () => {
    await newer('99.0.0')
    await expect(migrate(app.database.pool)).rejects.toThrow(
      /The database has migration 999901010000_of_the_future, which needs Millrace 99\.0\.0 or newer; this is 0\.\d+\.\d+: run a newer Millrace\./,
    )
  })
})
