// The dry run: counts what the work would delete now. Database sizes are estimates from the average size of rows,
// because a deleted row is not free space yet; sizes of objects are exact.
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../../db/pool.ts'
import * as retention from './queries.ts'
import { add, emptyTally, kinds, type Kind, type Tally } from './report.ts'
import {
  allTime,
  archivesWithDueLogs,
  artifactsOf,
  dueArchives,
  dueArtifactsOfOpenBuilds,
  dueBuilds,
  isOver,
  logsOf,
  policies,
  strippableBuilds,
  type Scope,
  type Slice,
  type Terms,
} from './selection.ts'
import { dueTestRuns } from './test-runs.ts'

export interface Previewed extends Tally {
  /** How many of the builds are archived. */
  archived: number
  /** An estimate. */
  database_bytes: number
}

export type Preview = Record<Kind, Previewed>

interface PipelinePreview extends Preview {
  pipeline: retention.PipelineName
}

export interface WholePreview extends Preview {
  /** Those of which something is due. */
  pipelines: PipelinePreview[]
}

/** No statement counts more than so many builds of so many pipelines, so that none takes long. */
const pipelinesAtOnce = 5
const usualBuildsAtOnce = 5000

export async function preview(
  db: Db,
  orgId: string,
  pipelines: readonly retention.PipelineName[],
  terms: Terms,
  buildsAtOnce = usualBuildsAtOnce,
): Promise<WholePreview> {
  const sizes = await averageSizes(db)
  const whole: WholePreview = { ...emptyPreview(), pipelines: [] }
  for (let first = 0; first < pipelines.length; first += pipelinesAtOnce) {
    const some = pipelines.slice(first, first + pipelinesAtOnce)
    const counted = await countInParts(
      db,
      { organizationId: orgId, pipelineIds: some.map(({ id }) => id) },
      terms,
      buildsAtOnce,
    )
    for (const pipeline of some) {
      const rows = counted.filter((row) => row.pipeline_id === pipeline.id && row.count > 0)
      if (rows.length === 0) continue
      const own = { pipeline, ...emptyPreview() }
      for (const row of rows) addPreviewed(own[row.kind], estimated(row, sizes))
      for (const kind of kinds) addPreviewed(whole[kind], own[kind])
      whole.pipelines.push(own)
    }
  }
  return whole
}

/** Also test runs that belong to no build, and so to no pipeline. */
export async function previewOrganization(db: Db, orgId: string, terms: Terms): Promise<WholePreview> {
  const whole = await preview(db, orgId, await retention.listPipelines(db, orgId), terms)
  const { rows } = await sql<Tally>`
    select count(*), 0 as blob_bytes, min(t.created_at) as oldest, max(t.created_at) as newest
    from (${dueTestRuns(orgId, terms, null)}) t`.execute(db)
  whole.test_runs = { ...emptyPreviewed(), ...rows[0] }
  return whole
}

interface CountedRow extends Tally {
  pipeline_id: string
  kind: Kind
  archived: number
  jobs: number
  row_bytes: number
}

type Some = Exclude<Scope, 'all'>

/** One slice of time after another. A kind of a pipeline has a row for each slice. */
async function countInParts(db: Db, scope: Some, terms: Terms, buildsAtOnce: number): Promise<CountedRow[]> {
  const counted: CountedRow[] = []
  for (let since: string | null = allTime.since; since !== null;) {
    const until: string | null = await findEnd(db, scope, since, buildsAtOnce)
    counted.push(...(await countDue(db, scope, terms, { since, until: until ?? allTime.until })))
    since = until
  }
  return counted
}

/** When the slice ends that begins then: no pipeline has more builds in it. null: it has all the rest. */
async function findEnd(db: Db, { pipelineIds }: Some, since: string, builds: number): Promise<string | null> {
  const nth = (table: 'builds' | 'archived_builds', condition: RawBuilder<unknown>) => sql`
    select e.finished_at from ${sql.table(table)} e
    where e.pipeline_id = p.id and ${condition} and e.finished_at > ${since}::timestamptz
    order by e.finished_at, e.id offset ${builds} limit 1`
  const { rows } = await sql<{ until: string | null }>`
    select min(n.finished_at) as until from unnest(${pipelineIds}::uuid[]) p (id)
    cross join lateral ((${nth('builds', isOver('e'))}) union all (${nth('archived_builds', sql`true`)})) n`.execute(
    db,
  )
  return rows[0]?.until ?? null
}

async function countDue(db: Db, scope: Scope, terms: Terms, slice: Slice): Promise<CountedRow[]> {
  const all = { after: null, limit: null }
  const tally = sql`count(*), coalesce(sum(bytes), 0)::bigint as blob_bytes, min(finished_at) as oldest, max(finished_at) as newest`
  const { rows } = await sql<CountedRow>`
    with ${policies(scope, terms, slice)},
    due_build as materialized (select b.* from policy p cross join lateral (${dueBuilds(all)}) b),
    ending as materialized (select a.* from policy p cross join lateral (${dueArchives(null)}) a),
    due_log as (
      select b.pipeline_id, b.finished_at, l.job_id, l.bytes, l.row_bytes
      from policy p cross join lateral (${strippableBuilds('logs', all)}) b cross join lateral (${logsOf}) l
      union
      select b.pipeline_id, b.finished_at, l.job_id, l.bytes, l.row_bytes
      from due_build b cross join lateral (${logsOf}) l where not b.keeps_logs
      union
      select a.pipeline_id, a.finished_at, l.job_id, l.size, 0
      from policy p cross join lateral (${archivesWithDueLogs(null)}) a join archived_logs l on l.build_id = a.id
      union
      select a.pipeline_id, a.finished_at, l.job_id, l.size, 0
      from ending a join archived_logs l on l.build_id = a.id),
    due_artifact as (
      select b.pipeline_id, b.finished_at, f.artifact_id, f.bytes
      from policy p cross join lateral (${strippableBuilds('artifacts', all)}) b cross join lateral (${artifactsOf}) f
      union
      select b.pipeline_id, b.finished_at, f.artifact_id, f.bytes
      from due_build b cross join lateral (${artifactsOf}) f
      union
      select f.pipeline_id, f.finished_at, f.artifact_id, f.bytes
      from policy p cross join lateral (${dueArtifactsOfOpenBuilds(null)}) f)
    select pipeline_id, 'builds' as kind, ${tally}, count(*) filter (where is_archived) as archived,
      coalesce(sum(jobs), 0)::bigint as jobs, 0 as row_bytes
    from (
      select b.*, t.jobs, (
        select sum(l.rows_bytes) from (${logsOf}) l where b.keeps_logs and l.blob_key is not null) as bytes
      from due_build b left join build_tallies t on t.build_id = b.id) counted
    group by pipeline_id
    union all
    select pipeline_id, 'logs', ${tally}, 0, 0, sum(row_bytes)::bigint from due_log group by pipeline_id
    union all
    select pipeline_id, 'artifacts', ${tally}, 0, 0, 0 from due_artifact group by pipeline_id
    union all
    select pipeline_id, 'archived_builds', ${tally}, 0, 0, 0
    from (select pipeline_id, finished_at, size as bytes from ending) counted group by pipeline_id`.execute(
    db,
  )
  return rows
}

interface Sizes {
  build: number
  job: number
  archive: number
}

/** Average bytes in the database, with indexes: of a build without its jobs, of a job, of the row of an archive. */
async function averageSizes(db: Db): Promise<Sizes> {
  const ofBuilds = ['builds', 'build_tallies', 'build_meta_data', 'step_uploads', 'test_runs', 'test_results']
  const ofJobs = ['jobs', 'build_steps', 'build_edges', 'build_refs', 'annotations', 'artifacts', 'job_logs']
  const { rows } = await sql<Sizes>`
    with sized as (
      select c.relname, pg_total_relation_size(c.oid) as bytes,
        greatest(c.reltuples, pg_stat_get_live_tuples(c.oid), 1) as tuples
      from pg_class c where c.oid = any (
        array(select to_regclass(name) from unnest(${[...ofBuilds, ...ofJobs, 'archived_builds']}::text[]) name)::oid[])),
    average as (
      select coalesce(sum(s.bytes), 0) / max(of.tuples) as bytes, of.relname
      from (values ('builds', ${ofBuilds}::text[]), ('jobs', ${ofJobs}::text[]), ('archived_builds', array['archived_builds']))
        parts (relname, names)
      join sized of on of.relname = parts.relname join sized s on s.relname = any (parts.names)
      group by of.relname)
    select max(bytes) filter (where relname = 'builds')::float8 as build,
      max(bytes) filter (where relname = 'jobs')::float8 as job,
      max(bytes) filter (where relname = 'archived_builds')::float8 as archive
    from average`.execute(db)
  return rows[0] ?? { build: 0, job: 0, archive: 0 }
}

function estimated(row: CountedRow, sizes: Sizes): Previewed {
  const { count, blob_bytes, oldest, newest, archived, jobs, row_bytes } = row
  const rows = row.kind === 'builds' ? count * sizes.build + jobs * sizes.job : 0
  const archives = row.kind === 'archived_builds' ? count * sizes.archive : archived * -sizes.archive
  const database_bytes = Math.max(0, Math.round(rows + archives + row_bytes))
  return { count, blob_bytes, oldest, newest, archived, database_bytes }
}

const emptyPreviewed = (): Previewed => ({ ...emptyTally(), archived: 0, database_bytes: 0 })

const emptyPreview = (): Preview => ({
  builds: emptyPreviewed(),
  logs: emptyPreviewed(),
  artifacts: emptyPreviewed(),
  archived_builds: emptyPreviewed(),
  test_runs: emptyPreviewed(),
})

function addPreviewed(to: Previewed, more: Previewed): void {
  add(to, more)
  to.archived += more.archived
  to.database_bytes += more.database_bytes
}
