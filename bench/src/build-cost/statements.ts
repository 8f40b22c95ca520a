// Statements, rows and bytes that a build costs the database, from its own statistics.
import type { World } from './world.ts'

interface StatementCosts {
  perBuild: { statements: number; transactions: number; rows: number; walKilobytes: number }
  /** The most expensive first. */
  top: Array<{ text: string; calls: number; ms: number }>
}

const written = `
  select sum(n_tup_ins + n_tup_upd + n_tup_del)::float8 as rows,
    (select sum(xact_commit)::float8 from pg_stat_database) as transactions from pg_stat_user_tables`

export async function costOfStatements(
  { sql }: World,
  count: number,
  run: () => Promise<unknown>,
): Promise<StatementCosts> {
  await sql.query('select pg_stat_statements_reset()')
  const before = await read<{ rows: number; transactions: number }>(sql, written)
  await run()
  // Backends report their statistics once a second.
  await new Promise((resolve) => setTimeout(resolve, 1500))
  const statements = await sql.query<{ text: string; calls: number; ms: number; wal: number }>(`
    select query as text, calls::float8, total_exec_time + total_plan_time as ms, wal_bytes::float8 as wal
    from pg_stat_statements where query !~ 'pg_stat|from builds where finished_at is null' order by 3 desc`)
  const after = await read<{ rows: number; transactions: number }>(sql, written)
  const total = (pick: (row: (typeof statements.rows)[number]) => number) =>
    statements.rows.reduce((sum, row) => sum + pick(row), 0) / count
  return {
    perBuild: {
      statements: total(({ calls }) => calls),
      transactions: (after.transactions - before.transactions) / count,
      rows: (after.rows - before.rows) / count,
      walKilobytes: total(({ wal }) => wal) / 1000,
    },
    top: statements.rows.map(({ text, calls, ms }) => ({ text, calls: calls / count, ms: ms / count })),
  }
}

async function read<Row extends object>(sql: World['sql'], text: string): Promise<Row> {
  const { rows } = await sql.query<Row>(text)
  const [row] = rows
  if (row === undefined) throw new Error('PostgreSQL has no statistics.')
  return row
}
