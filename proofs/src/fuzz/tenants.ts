// Looks at the tables of tenants from outside: whether one has changed, what belongs to it, and whether any row of one refers
// to a row of another.
import type pg from 'pg'

/** Times that reading, or a task of the worker, changes too. */
const volatile = new Set([
  'last_used_at',
  'last_used_ip',
  'last_seen_at',
  'last_read_at',
  'labels_checked_at',
  'owners_checked_at',
  'job_heard_at',
  'heard_at',
])

/** The worker writes these at any time: it counts jobs that ended before, and notes each minute how busy queues are. */
const counted = new Set([
  'build_costs',
  'insight_days',
  'insight_hours',
  'insight_minutes',
  'insight_subjects',
  'job_ends',
  'queue_samples',
])

/** Stands for what is not there, in rows of all organizations. */
const nilId = '00000000-0000-0000-0000-000000000000'

async function tenantTables(pool: pg.Pool): Promise<Map<string, string[]>> {
  const { rows } = await pool.query<{ table: string; columns: string[] }>(`
    select c.table_name as table, array_agg(c.column_name::text order by c.ordinal_position) as columns
    from information_schema.columns c
    join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
    where c.table_schema = 'public' and t.table_type = 'BASE TABLE'
    group by c.table_name having 'organization_id' = any (array_agg(c.column_name::text))`)
  return new Map(rows.map(({ table, columns }) => [table, columns]))
}

/** One text for each table of the organization. */
export async function digestOf(pool: pg.Pool, organizationId: string): Promise<Record<string, string>> {
  const digests: Record<string, string> = {}
  for (const [table, columns] of await tenantTables(pool)) {
    if (counted.has(table)) continue
    const kept = columns.filter((column) => !volatile.has(column)).map((column) => `"${column}"`)
    const { rows } = await pool.query<{ digest: string }>(
      `select count(*) || ' rows, ' || coalesce(md5(string_agg(line, e'\\n' order by line)), '') as digest
       from (select md5(row(${kept.join(', ')})::text) as line from "${table}" where organization_id = $1) as lines`,
      [organizationId],
    )
    digests[table] = rows[0]?.digest ?? ''
  }
  return digests
}

/** Every UUID in the rows of the organization. */
export async function uuidsOf(pool: pg.Pool, organizationId: string): Promise<Set<string>> {
  const found = new Set<string>()
  for (const [table] of await tenantTables(pool)) {
    const { rows } = await pool.query<{ id: string }>(
      `select distinct (regexp_matches(t::text, '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'g'))[1] as id
       from "${table}" t where organization_id = $1`,
      [organizationId],
    )
    for (const { id } of rows) found.add(id)
  }
  found.delete(nilId)
  return found
}

/** Rows whose foreign key leads to a row of another organization. */
export async function crossReferences(pool: pg.Pool): Promise<string[]> {
  const tables = await tenantTables(pool)
  const { rows } = await pool.query<{ child: string; parent: string; columns: string[]; targets: string[] }>(`
    select c.conrelid::regclass::text as child, c.confrelid::regclass::text as parent,
      array(select a.attname::text from unnest(c.conkey) with ordinality k (n, i)
        join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.n order by k.i) as columns,
      array(select a.attname::text from unnest(c.confkey) with ordinality k (n, i)
        join pg_attribute a on a.attrelid = c.confrelid and a.attnum = k.n order by k.i) as targets
    from pg_constraint c where c.contype = 'f' and c.connamespace = 'public'::regnamespace`)
  const broken: string[] = []
  for (const { child, parent, columns, targets } of rows) {
    if (!tables.has(child) || !tables.has(parent)) continue
    const join = columns.map((column, i) => `a."${column}" = b."${targets[i]}"`).join(' and ')
    const { rows: wrong } = await pool.query<{ n: number }>(
      `select count(*)::int as n from ${child} a join ${parent} b on ${join} where a.organization_id <> b.organization_id`,
    )
    if (wrong[0]?.n) broken.push(`${wrong[0].n} rows of ${child} refer to ${parent} of another organization.`)
  }
  return broken
}

/** Counters that differ from a new count. */
export async function wrongCounters(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ what: string; n: number }>(`
    with counted as (
      select b.pipeline_id,
        count(*) filter (
          where j.state in ('limiting', 'limited', 'scheduled', 'reserved', 'assigned', 'accepted')) as scheduled,
        count(*) filter (where j.state in ('running', 'canceling', 'timing_out')) as running
      from jobs j join builds b on b.id = j.build_id where j.kind = 'script' group by b.pipeline_id),
    tallied as (
      select pipeline_id, sum(scheduled_jobs) as scheduled, sum(running_jobs) as running
      from pipeline_tallies group by pipeline_id)
    select 'pipelines with wrong counts of scheduled or running jobs' as what, count(*)::int as n
    from tallied t left join counted c using (pipeline_id)
    where t.scheduled <> coalesce(c.scheduled, 0) or t.running <> coalesce(c.running, 0)
    union all
    select 'builds with the number of another', count(*)::int from (
      select from builds group by pipeline_id, number having count(*) > 1) as twice
    union all
    select 'agents with two jobs', count(*)::int from (
      select from jobs where agent_id is not null and state in ('assigned', 'accepted', 'running', 'canceling', 'timing_out')
      group by agent_id having count(*) > 1) as two`)
  return rows.filter(({ n }) => n > 0).map(({ what, n }) => `${n} ${what}.`)
}
