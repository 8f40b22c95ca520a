import { afterEach, describe, expect, it } from 'vitest'
import { eventually, useApp } from '../test/app.ts'
import { anAdmin, anOrganization, unique } from '../test/builders.ts'
import { openDatabase } from './db/pool.ts'
import { runTasks, type RunningTasks } from './tasks/run.ts'
import type { Handlers, Kind } from './tasks/kinds.ts'
import { handlers } from './worker.ts'

const app = useApp()
let running: RunningTasks | undefined

afterEach(async () => {
  await running?.stop()
  running = undefined
})

describe('background work', () => {
  it('is carried out by the handler of its kind', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const [old, fresh] = [unique('key'), unique('key')]
    for (const [key, age] of [
      [old, '25 hours'],
      [fresh, '23 hours'],
    ] as const) {
      await app.ctx.db
        .insertInto('idempotency_keys')
        .values({ user_id: admin.id, key, fingerprint: Buffer.from(''), status: 200, headers: '{}' })
        .execute()
      await pool().query(`update idempotency_keys set created_at = now() - $2::interval where key = $1`, [
        key,
        age,
      ])
    }
    await pool().query(
      `insert into rate_limits (key, expire) values ('past', 1), ('future', extract(epoch from now()) * 1000 + 60000)`,
    )
    running = await runTasks(pool(), app.ctx.log, app.ctx, handlers)
    for (const kind of Object.keys(handlers)) await enqueue(kind as Kind)
    await eventually('nothing is left to do', async () => (await tasks()).length === 0)

    const keys = await app.db.selectFrom('idempotency_keys').select('key').execute()
    expect(keys).toEqual([{ key: fresh }])
    const limits = await app.db.selectFrom('rate_limits').select('key').execute()
    expect(limits).toEqual([{ key: 'future' }])
  })

  it('is tried again when it fails', async () => {
    const seen: string[] = []
    running = await runWith(seen, {
      forget_rate_limits: async () => {
        seen.push('tried')
        throw new Error('The disk is on fire.')
      },
    })
    await enqueue('forget_rate_limits')
    const [task] = await eventually('it failed', async () => {
      const left = await tasks()
      return left[0]?.attempts === 1 && left[0].locked_at === null && left
    })
    expect(seen).toEqual(['tried'])
    expect(task).toMatchObject({ last_error: 'The disk is on fire.' })
    expect(app.logLines.join('')).toContain('The disk is on fire.')
    await pool().query('delete from graphile_worker._private_jobs')
  })

  it('is finished before a stop', async () => {
    let finish = () => {}
    let isBegun = false
    let isFinished = false
    running = await runWith(null, {
      forget_rate_limits: async () => {
        isBegun = true
        await new Promise<void>((resolve) => (finish = resolve))
        isFinished = true
      },
    })
    await enqueue('forget_rate_limits')
    await eventually('it has begun', async () => isBegun)
    const stopped = running.stop()
    running = undefined
    finish()
    await stopped
    expect(isFinished).toBe(true)
    // That it is done may be written down a moment later; the pool does not close before.
    await eventually('it is off the list', async () => (await tasks()).length === 0)
  })

  it('does not begin when the database cuts the connection that it begins with', async () => {
    const other = openDatabase(pool().options, { maxConnections: 1 })
    await other.pool.query('begin; lock table graphile_worker._private_tasks')
    const cut = eventually('it waits', async () => {
      const { rows } = await other.pool.query(
        `select pg_terminate_backend(pid) from pg_locks where relation = 'graphile_worker._private_tasks'::regclass and not granted`,
      )
      return rows.length > 0
    })
    await Promise.all([expect(runWith(null, {})).rejects.toThrow(/terminat/), cut])
    await other.close()
  })

  it('begins anew after the database cut every connection', async () => {
    const seen: number[] = []
    running = await runWith(null, {
      forget_rate_limits: async () => seen.push(1),
    })
    const other = openDatabase(pool().options, { maxConnections: 1 })
    await other.pool.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    await other.close()
    await eventually('it is enqueued', () =>
      enqueue('forget_rate_limits').then(
        () => true,
        () => false,
      ),
    )
    await eventually('it is done', async () => seen.length > 0)
    expect(seen).toEqual([1])
  })
})

const refuse = async () => {
  throw new Error('Not in this test.')
}
const refusing: Handlers<unknown> = {
  expire_invitations: refuse,
  revoke_inactive_tokens: refuse,
  forget_agents: refuse,
  forget_idempotency_keys: refuse,
  forget_rate_limits: refuse,
  forget_sessions: refuse,
  forget_webhook_deliveries: refuse,
  forget_deliveries: refuse,
  seal_plain_secrets: refuse,
}

/** Without the clock, which at some minutes would add tasks of its own. */
const runWith = <Context>(context: Context, some: Partial<Handlers<Context>>) =>
  runTasks(pool(), app.ctx.log, context, { ...refusing, ...some }, {})

const pool = () => app.database.pool

const enqueue = (kind: Kind) => pool().query('select graphile_worker.add_job($1)', [kind])

async function tasks(): Promise<{ attempts: number; last_error: string | null; locked_at: string | null }[]> {
  const { rows } = await pool().query<{
    attempts: number
    last_error: string | null
    locked_at: string | null
  }>('select attempts, last_error, locked_at from graphile_worker.jobs')
  return rows
}
