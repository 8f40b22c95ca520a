import type pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { eventually, useOwnApp } from '../test/app.ts'
import { anAdmin, anOrganization, unique } from '../test/builders.ts'
import { openDatabase, type Db } from './db/pool.ts'
import { RenewingPool, type Connected } from './db/renewing-pool.ts'
import { inTransaction } from './db/transaction.ts'
import { enqueue } from './tasks/enqueue.ts'
import { runTasks, type RunningTasks } from './tasks/run.ts'
import { schedule, type Handlers, type Kind } from './tasks/kinds.ts'
import { handlers } from './worker.ts'

const app = useOwnApp()
let running: RunningTasks | undefined

afterEach(async () => {
  await running?.stop()
  running = undefined
  await pool().query('select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))')
})

describe('a background task', () => {
  it('is run by the handler of its kind', async () => {
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
    for (const kind of Object.keys(schedule)) await enqueue(app.db, kind as Kind, {})
    await eventually('nothing is left to do', async () => (await tasks()).length === 0)

    const keys = await app.db.selectFrom('idempotency_keys').select('key').execute()
    expect(keys).toEqual([{ key: fresh }])
    const limits = await app.db.selectFrom('rate_limits').select('key').execute()
    expect(limits).toEqual([{ key: 'future' }])
  })

  it('is retried when it fails', async () => {
    const seen: string[] = []
    running = await runWith(seen, {
      expire_rate_limits: async () => {
        seen.push('tried')
        throw new Error('The disk is on fire.')
      },
    })
    await enqueue(app.db, 'expire_rate_limits', {})
    const [task] = await eventually('it failed', async () => {
      const left = await tasks()
      return left[0]?.attempts === 1 && left[0].locked_at === null && left
    })
    expect(seen).toEqual(['tried'])
    expect(task).toMatchObject({ last_error: 'The disk is on fire.' })
    expect(app.logLines.join('')).toContain('The disk is on fire.')
  })

  it('is added with the transaction of its change, once for each key, and not before its time', async () => {
    const seen: string[] = []
    const note = async (_: unknown, { git_mirror_id: id }: { git_mirror_id: string }) => seen.push(id)
    const add = (db: Db, id: string, options: { key?: string; runAt?: string } = {}) =>
      enqueue(db, 'update_git_mirror', { git_mirror_id: id }, options)
    await expect(
      inTransaction(app.db, async (trx) => {
        await add(trx, 'rolled back')
        throw new Error('Not this one.')
      }),
    ).rejects.toThrow('Not this one.')
    await add(app.db, 'replaced', { key: 'a' })
    await inTransaction(app.db, (trx) => add(trx, 'newer', { key: 'a' }))
    await add(app.db, 'tomorrow', { runAt: new Date(Date.now() + 86_400_000).toISOString() })
    running = await runWith(null, { update_git_mirror: note })
    await eventually('all that is due has run', async () => (await tasks()).length === 1)
    expect(seen).toEqual(['newer'])
  })

  it('keeps its time when it is added again with a delay', async () => {
    const add = (afterSeconds: number) =>
      enqueue(app.db, 'update_git_mirror', { git_mirror_id: 'late' }, { key: 'late', afterSeconds })
    const readSeconds = async () => {
      const { rows } = await pool().query<{ seconds: number }>(
        'select extract(epoch from run_at - now())::float8 as seconds from graphile_worker.jobs',
      )
      return rows.map(({ seconds }) => seconds)
    }
    await add(1000)
    await add(5000)
    const [seconds = 0, ...others] = await readSeconds()
    expect(others).toEqual([])
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(1000)
  })

  it('is finished before a stop', async () => {
    let finish = () => {}
    let isBegun = false
    let isFinished = false
    running = await runWith(null, {
      expire_rate_limits: async () => {
        isBegun = true
        await new Promise<void>((resolve) => (finish = resolve))
        isFinished = true
      },
    })
    await enqueue(app.db, 'expire_rate_limits', {})
    await eventually('it has begun', async () => isBegun)
    const stopped = running.stop()
    running = undefined
    finish()
    await stopped
    expect(isFinished).toBe(true)
    // Its completion may be committed a moment later.
    await eventually('it is off the list', async () => (await tasks()).length === 0)
  })

  it('does not start when the database cuts the first connection', async () => {
    // A pool of its own, because graphile-worker returns the dead connection to it.
    const own = openDatabase(pool().options)
    const other = openDatabase(pool().options, { maxConnections: 1 })
    await other.pool.query('begin; lock table graphile_worker._private_tasks')
    const cut = eventually('it waits', async () => {
      const { rows } = await other.pool.query(
        `select pg_terminate_backend(pid) from pg_locks where relation = 'graphile_worker._private_tasks'::regclass and not granted`,
      )
      return rows.length > 0
    })
    const starting = runTasks(own.pool, app.ctx.log, null, refusing, { cron: {} })
    await Promise.all([expect(starting).rejects.toThrow(/terminat/), cut])
    await Promise.all([own.close(), other.close()])
  })

  // graphile-worker then releases the connection twice. pg answers with an error, which would end the process.
  it('stops while the database cuts a connection that is about to listen', async () => {
    const own = new SlowToListen(pool().options)
    own.on('error', () => {})
    own.on('connect', (client) => client.on('error', () => {}))
    const stopping = (await runTasks(own, app.ctx.log, null, refusing, { cron: {} })).stop()
    await eventually('it is cut', async () => {
      const { rows } = await pool().query(
        'select pg_terminate_backend(pid) from pg_stat_activity where query = $1',
        [sleep],
      )
      return rows.length > 0
    })
    await stopping
    await own.end()
    expect(own.totalCount).toBe(0)
  })

  it('runs again after the database cut every connection', async () => {
    const seen: number[] = []
    running = await runWith(null, {
      expire_rate_limits: async () => seen.push(1),
    })
    const other = openDatabase(pool().options, { maxConnections: 1 })
    await other.pool.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    await other.close()
    await eventually('it is enqueued', () =>
      enqueue(app.db, 'expire_rate_limits', {}).then(
        () => true,
        () => false,
      ),
    )
    await eventually('it is done', async () => seen.length > 0)
    expect(seen).toEqual([1])
  })
})

const sleep = 'select pg_sleep(600)'

/** graphile-worker uses a callback only for the connection that listens. */
class SlowToListen extends RenewingPool {
  override connect(): Promise<pg.PoolClient>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<pg.PoolClient> | void {
    if (callback === undefined) return super.connect()
    super.connect((error, client, done) => {
      client?.query(sleep, () => {})
      callback(error, client, done)
    })
  }
}

const refuse = async () => {
  throw new Error('Not in this test.')
}
const refusing: Handlers<unknown> = {
  assign_shares: refuse,
  expire_insights: refuse,
  expire_invitations: refuse,
  poll_repository: refuse,
  report_commit_statuses: refuse,
  report_overdue_statuses: refuse,
  revoke_inactive_tokens: refuse,
  expire_agents: refuse,
  expire_commits: refuse,
  expire_idempotency_keys: refuse,
  expire_rate_limits: refuse,
  expire_sessions: refuse,
  expire_tests: refuse,
  end_quarantines: refuse,
  index_failure: refuse,
  label_tests: refuse,
  check_budgets: refuse,
  expire_webhook_deliveries: refuse,
  expire_audit_events: refuse,
  expire_deliveries: refuse,
  expire_events: refuse,
  expire_failed_rows: refuse,
  expire_log_chunks: refuse,
  expire_log_findings: refuse,
  make_partitions: refuse,
  seal_plain_secrets: refuse,
  checkpoint_log: refuse,
  send_invitation: refuse,
  set_test_owners: refuse,
  compact_log: refuse,
  update_git_mirror: refuse,
  sample_queues: refuse,
}

/** Without the clock, which at some minutes would add tasks of its own. */
const runWith = <Context>(context: Context, some: Partial<Handlers<Context>>) =>
  runTasks(pool(), app.ctx.log, context, { ...refusing, ...some }, { cron: {} })

const pool = () => app.database.pool

async function tasks(): Promise<{ attempts: number; last_error: string | null; locked_at: string | null }[]> {
  const { rows } = await pool().query<{
    attempts: number
    last_error: string | null
    locked_at: string | null
  }>('select attempts, last_error, locked_at from graphile_worker.jobs')
  return rows
}
