import { describe, expect, it, onTestFinished } from 'vitest'
import type pg from 'pg'
import { useApp } from '../../test/app.ts'
import { eventually } from '../../test/eventually.ts'
import { passwordOf } from './client.ts'
import { GatedPool } from './gated-pool.ts'

const app = useApp()

function aPool(few: number, config: pg.PoolConfig = {}, quickMs = 20): GatedPool {
  const { options } = app.database.pool
  const pool = new GatedPool({ ...options, ...passwordOf(options), ...config }, few, { quickMs })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  onTestFinished(() => (pool.ending ? undefined : pool.end()))
  return pool
}

describe('a pool that keeps to a few connections', () => {
  it('answers everybody over those few while they are quick', async () => {
    const pool = aPool(2, {}, 60_000)
    const asked = Array.from({ length: 200 }, (_, index) => index)
    const answers = await Promise.all(asked.map((n) => pool.query<{ n: number }>('select $1::int as n', [n])))
    expect(answers.map(({ rows }) => rows[0]?.n)).toEqual(asked)
    expect(pool.totalCount).toBe(2)
  })

  it('opens more beside those that are held for long, up to its limit', async () => {
    const pool = aPool(2, { max: 5 })
    const held = await Promise.all(Array.from({ length: 5 }, () => pool.connect()))
    expect(pool.totalCount).toBe(5)
    const sixth = pool.connect()
    await eventually('the sixth is let in and waits', async () => pool.waitingCount === 1)
    held.forEach((client) => client.release())
    ;(await sixth).release()
    expect(pool.totalCount).toBe(5)
  })

  it('lets somebody who holds one ask for another', async () => {
    const pool = aPool(1)
    const outer = await pool.connect()
    const inner = await pool.connect()
    expect(inner).not.toBe(outer)
    inner.release()
    outer.release()
  })

  it('gives back the place of a connection that could not be opened, or broke', async () => {
    const pool = aPool(1, { database: 'nowhere' })
    for (let time = 0; time < 3; time++) await expect(pool.query('select 1', [])).rejects.toThrow('nowhere')
    const well = aPool(1)
    for (let time = 0; time < 3; time++) {
      const client = await well.connect()
      client.release(new Error('broken'))
    }
    expect((await well.query('select 1 as one', [])).rows).toEqual([{ one: 1 }])
  })

  it('refuses those who still wait when it ends', async () => {
    const pool = aPool(1)
    const client = await pool.connect()
    const late = pool.query('select 1', [])
    const end = pool.end()
    client.release()
    await expect(late).rejects.toThrow('after calling end')
    await end
  })
})
