// Compares the outbox with one table of the same rows: deleting old rows, and the statements that are sent most. Each statement
// runs on both in turn, and the fastest round counts.
import { startTemporary } from '@millrace/server/db/embedded/temporary.ts'
import { migrate } from '@millrace/server/db/migrate.ts'
import { dropPartitions, listPartitions, makePartitions } from '@millrace/server/db/partitions.ts'
import { openDatabase, type Database } from '@millrace/server/db/pool.ts'
import pg from 'pg'
import pino from 'pino'
import { row, type Report } from './harness/report.ts'

const weeks = 12
const eventsPerWeek = 100_000
const batchSize = 5000
const rounds = 7
const runs = 200
const weekMs = 7 * 24 * 60 * 60 * 1000
/** The statement that is sent several times a second while nothing happens. */
const aim = { idleRatio: 1.5 }

export async function benchPartitions(): Promise<Report> {
  const postgres = await startTemporary()
  const database = openDatabase(postgres.connection)
  const client = new pg.Client(postgres.connection)
  await client.connect()
  try {
    await migrate(database.pool)
    await fill(database, client)
    const { rows, idleRatio } = await compareStatements(client)
    rows.push(...(await compareDeletion(database, client)))
    const targets = [
      {
        what: 'look for new events, with partitions',
        target: `≤ ${aim.idleRatio} × one table`,
        measured: `${idleRatio.toFixed(2)} ×`,
        met: idleRatio <= aim.idleRatio,
      },
    ]
    return { name: 'partitions', rows, targets }
  } finally {
    await client.end()
    await database.close()
    await postgres.stop()
  }
}

/** The last week is now, so the partitions of the weeks before are made as if by an older installation. */
async function fill({ db }: Database, client: pg.Client): Promise<void> {
  const log = pino({ level: 'silent' })
  await dropPartitions(db, 'events', new Date(Date.now() + 10 * weekMs))
  for (let week = weeks - 1; week >= 0; week--)
    await makePartitions(db, new Date(Date.now() - week * weekMs), log)
  await client.query(`
    insert into events (organization_id, build_id, kind, data, xid, created_at)
    select gen_random_uuid(), md5((n / 40)::text)::uuid, 'job.state_changed', '{"from": "running", "to": "passed"}', n,
      now() - interval '${weeks} weeks' + n * interval '${weeks} weeks' / ${weeks * eventsPerWeek}
    from generate_series(1, ${weeks * eventsPerWeek}) n`)
  await client.query(`
    create table one_table (like events including defaults including constraints);
    insert into one_table select * from events;
    alter table one_table add primary key (id);
    create index on one_table (xid, id);
    create index on one_table (build_id, id) where build_id is not null;
    create index on one_table (organization_id, id) where build_id is null`)
  await client.query('vacuum analyze')
}

type Statement = (table: string) => { text: string; values: (n: number) => unknown[] }

const last = weeks * eventsPerWeek
const dayMs = 24 * 60 * 60 * 1000
const around = (table: string) =>
  table === 'events'
    ? `created_at > now() - interval '1 day' and created_at < now() + interval '1 day'`
    : 'true'

const statements: Record<string, Statement> = {
  'look for new events': (table) => ({
    text: `select (select max(xid) from ${table} where ${around(table)}) >= $1::bigint as has`,
    values: () => [last + 1],
  }),
  'ten changes for open pages': (table) => ({
    text: `select xid, build_id from ${table} where xid > $1 and created_at > $2 and created_at < $3 order by xid limit 50001`,
    values: () => [last - 10, ...[-dayMs, dayMs].map((ms) => new Date(Date.now() + ms).toISOString())],
  }),
  'events of a build': (table) => ({
    text: `select id, data from ${table} where build_id = md5($1::text)::uuid order by id`,
    values: (n) => [n],
  }),
  'insert an event': (table) => ({
    text: `insert into ${table} (${table === 'events' ? '' : 'id, '}organization_id, kind, created_at)
      values (${table === 'events' ? '' : 'nextval($$events_id_seq$$), '}gen_random_uuid(), $1, now())`,
    values: () => ['queue.changed'],
  }),
}

async function compareStatements(client: pg.Client) {
  const rows: Report['rows'] = []
  let idleRatio = 0
  for (const [what, statement] of Object.entries(statements)) {
    const best = { one_table: Infinity, events: Infinity }
    for (let round = 0; round < rounds; round++) {
      for (const table of ['one_table', 'events'] as const) {
        const { text, values } = statement(table)
        await client.query('begin')
        const startedAt = performance.now()
        for (let n = 0; n < runs; n++)
          await client.query({ name: `${what} ${table}`, text, values: values(n) })
        best[table] = Math.min(best[table], ((performance.now() - startedAt) * 1000) / runs)
        await client.query('rollback')
      }
    }
    if (what === 'look for new events') idleRatio = best.events / best.one_table
    rows.push(row(what, `${best.events.toFixed(0)} µs`, `one table: ${best.one_table.toFixed(0)} µs`))
  }
  return { rows, idleRatio }
}

async function compareDeletion({ db }: Database, client: pg.Client): Promise<Report['rows']> {
  const kept = (await listPartitions(db)).filter(({ table }) => table === 'events').at(weeks - 3)
  if (kept === undefined) throw new Error('There are too few partitions.')
  const { rows: counted } = await client.query<{ count: number }>(
    'select count(*)::int as count from one_table where created_at < $1',
    [kept.to],
  )
  const deleteStartedAt = performance.now()
  for (let deleted = batchSize; deleted === batchSize;) {
    const { rowCount } = await client.query(
      `delete from one_table where id in (select id from one_table where created_at < $1 limit ${batchSize})`,
      [kept.to],
    )
    deleted = rowCount ?? 0
  }
  const deleteMs = performance.now() - deleteStartedAt
  await client.query('select pg_stat_force_next_flush()')
  const { rows: dead } = await client.query<{ dead: number }>(
    `select n_dead_tup::int as dead from pg_stat_user_tables where relname = 'one_table'`,
  )
  const dropStartedAt = performance.now()
  const dropped = await dropPartitions(db, 'events', kept.endsAt)
  const dropMs = performance.now() - dropStartedAt
  return [
    row(
      `delete ${counted[0]?.count} events`,
      `${dropMs.toFixed(0)} ms, 0 dead rows (${dropped.length} partitions)`,
      `one table: ${deleteMs.toFixed(0)} ms, ${dead[0]?.dead} dead rows`,
    ),
  ]
}
