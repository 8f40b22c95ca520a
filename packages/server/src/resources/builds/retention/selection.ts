// What retention deletes. The preview counts these rows and the work deletes them: both use this one selection, with the
// same time and the same settings. Everything is counted from the end of the build.
//
// The fragments are for queries with `policy p` (see `policies`) and, where they say so, with a build.
import { sql, type RawBuilder } from 'kysely'
import { isOriginOfOthers } from '../../../conductor/trust.ts'
import { settingNames, type OwnSettings, type SettingName, type Settings } from './rules.ts'

export interface Terms {
  /** The time as of which something is due. */
  now: string
  defaults: Settings
  /** Settings of the organization or the pipeline to try, instead of the stored ones. */
  trial?: { level: 'organization' | 'pipeline'; settings: Partial<OwnSettings> }
}

/** All pipelines, those of an organization, or some of them. */
export type Scope = 'all' | { organizationId: string; pipelineIds: readonly string[] | null }

const isInScope = (scope: Scope) => {
  if (scope === 'all') return sql`true`
  const { organizationId, pipelineIds } = scope
  return sql`p.organization_id = ${organizationId}
    and (${pipelineIds}::uuid[] is null or p.id = any (${pipelineIds}::uuid[]))`
}

/** Only rows of builds that ended in this time, from `since` to before `until`. */
export interface Slice {
  since: string
  until: string
}

export const allTime: Slice = { since: '-infinity', until: 'infinity' }

const nothing = '00000000-0000-0000-0000-000000000000'

/** A common table expression: the times before which builds, logs and artifacts of a pipeline are due. null: never. */
export const policies = (
  scope: Scope,
  { now, defaults, trial }: Terms,
  { since, until }: Slice = allTime,
): RawBuilder<unknown> => {
  const own = (name: SettingName) => {
    const tried = trial?.settings[name] ?? null
    const [ofPipeline, ofOrganization] = [sql.ref(`r.${name}`), sql.ref(`o.${name}`)]
    const type = name === 'archive_builds' ? sql`boolean` : sql`integer`
    const trying = sql`${tried}::${type}`
    return trial?.level === 'pipeline'
      ? sql`coalesce(${trying}, ${ofPipeline}, ${ofOrganization}, ${defaults[name]}::${type}) as ${sql.ref(name)}`
      : sql`coalesce(${ofPipeline}, ${trying}, ${ofOrganization}, ${defaults[name]}::${type}) as ${sql.ref(name)}`
  }
  const before = (days: string) => sql`
    case when ${sql.ref(days)} > 0 then ${now}::timestamptz - make_interval(hours => 24 * ${sql.ref(days)}) end`
  return sql`policy as (
    select p.id as pipeline_id, p.organization_id, p.slug, e.keep_newest_builds,
      ${since}::timestamptz as since, ${until}::timestamptz as until,
      e.archive_builds and (e.archive_days = 0 or e.archive_days > e.build_days) as archives,
      ${before('e.build_days')} as builds_before, ${before('e.log_days')} as logs_before,
      ${before('e.artifact_days')} as artifacts_before, ${before('e.archive_days')} as archives_before,
      coalesce(g.logs_through, '-infinity') as logs_through,
      coalesce(g.logs_through_id, ${nothing}) as logs_through_id,
      coalesce(g.artifacts_through, '-infinity') as artifacts_through,
      coalesce(g.artifacts_through_id, ${nothing}) as artifacts_through_id
    from pipelines p
    left join organization_retention o on o.organization_id = p.organization_id
    left join pipeline_retention r on r.pipeline_id = p.id
    left join retention_progress g on g.pipeline_id = p.id
    cross join lateral (select ${sql.join(settingNames.map(own))}) e
    where ${isInScope(scope)})`
}

/** Whether the time is in the slice of the policy. */
const isInSlice = (time: string) => sql`${sql.ref(time)} >= p.since and ${sql.ref(time)} < p.until`

/** A position in the order in which builds ended. */
export interface Position {
  finished_at: string
  id: string
}

interface Window {
  /** Only builds after this position; null: from the first. */
  after: Position | null
  /** null: all. */
  limit: number | null
  /** null: any. */
  ids?: readonly string[] | null
}

const afterPosition = (after: Position | null) =>
  sql`(${after?.finished_at ?? '-infinity'}::timestamptz, ${after?.id ?? nothing}::uuid)`

/** As the index builds_ended has it: blocked builds are not ended. */
export const isOver = (build: string) =>
  sql`${sql.ref(`${build}.state`)} in ('passed', 'failed', 'canceled', 'skipped', 'not_run')`

/** Ends a subquery that is asked for each build, so that PostgreSQL uses an index instead of reading the table for every batch. */
const oneByOne = sql`offset 0`

/**
 * Builds whose days are over and that are not among the newest, in the order in which they ended; at most `limit`. `is_due`:
 * nothing else keeps the build. For `cross join lateral (…) b`. The pipeline is that of an organization; a condition on the
 * organization as well would make PostgreSQL read the builds of all its pipelines.
 */
export const overdueBuilds = ({ after, limit, ids = null }: Window): RawBuilder<unknown> => sql`
  select ended.id, ended.organization_id, ended.pipeline_id, ended.finished_at, ended.is_archived,
    ended.is_archived and ${keepsLogs} as keeps_logs,
    not ${isOfOpenBuild} and not ${isOriginOfOthers}
      and not (ended.is_archived and ${keepsLogs} and ${hasUnstoredLog}) as is_due
  from (
    select done.id, done.organization_id, done.pipeline_id, done.finished_at, done.triggered_from_job_id,
      p.archives and done.finished_at >= coalesce(p.archives_before, '-infinity') as is_archived
    from builds done
    where done.pipeline_id = p.pipeline_id and ${isOver('done')} and done.finished_at < p.builds_before
      and ${isInSlice('done.finished_at')} and (done.finished_at, done.id) > ${afterPosition(after)}
      and ${ids === null ? sql`true` : sql`done.id = any (${ids}::uuid[])`}
      and done.number + 0 <= (
        select newest.number from builds newest where newest.pipeline_id = p.pipeline_id
        order by newest.number desc offset p.keep_newest_builds limit 1)
    order by done.finished_at, done.id limit ${limit}::bigint
  ) ended`

/** Those whose rows are due. */
export const dueBuilds = (window: Window): RawBuilder<unknown> => sql`
  select b.* from (${overdueBuilds(window)}) b where b.is_due`

const keepsLogs = sql`(p.logs_before is null or ended.finished_at >= p.logs_before)`

/** Whether a build that is not over was triggered by it, repeats it, or has triggered it. */
const isOfOpenBuild = sql`(
  exists (
    select from builds c where c.triggered_from is not null and c.triggered_from ->> 'build_id' = ended.id::text
      and c.organization_id = ended.organization_id and not ${isOver('c')} ${oneByOne})
  or exists (
    select from builds c where c.rebuilt_from is not null and c.rebuilt_from ->> 'id' = ended.id::text
      and c.organization_id = ended.organization_id and not ${isOver('c')} ${oneByOne})
  or ended.triggered_from_job_id is not null and exists (
    select from jobs t join builds parent on parent.id = t.build_id
    where t.id = ended.triggered_from_job_id and not ${isOver('parent')} ${oneByOne}))`

/** Its log has not been written to the blob store yet. */
const hasUnstoredLog = sql`exists (
  select from jobs j left join job_logs l on l.job_id = j.id
  where j.build_id = ended.id and j.kind = 'script' and l.finished_at is null and l.deleted_at is null
    and exists (select from job_log_chunks c where c.job_id = j.id ${oneByOne}) ${oneByOne})`

/** The builds whose logs or artifacts are due and have not been deleted by an earlier run. */
export const strippableBuilds = (
  kind: 'logs' | 'artifacts',
  { after, limit }: Window,
): RawBuilder<unknown> => {
  const through = sql`(${sql.ref(`p.${kind}_through`)}, ${sql.ref(`p.${kind}_through_id`)}::uuid)`
  return sql`
    select ended.id, ended.organization_id, ended.pipeline_id, ended.finished_at
    from builds ended
    where ended.pipeline_id = p.pipeline_id and ${isOver('ended')}
      and ended.finished_at < ${sql.ref(`p.${kind}_before`)}
      and ${isInSlice('ended.finished_at')}
      and (ended.finished_at, ended.id) > ${after === null ? through : afterPosition(after)}
    order by ended.finished_at, ended.id limit ${limit}::bigint`
}

/** For queries with a build `b`: its logs, in the blob store or not there yet. */
export const logsOf: RawBuilder<unknown> = sql`
  select j.id as job_id, l.blob_key, l.rows_blob_key,
    case when l.blob_key is null then 0 else l.size end
      + case when l.rows_blob_key is null then 0 else (l.rows_layout ->> 'size')::bigint end as bytes,
    case when l.rows_blob_key is null then 0 else (l.rows_layout ->> 'size')::bigint end as rows_bytes,
    case when l.blob_key is null then (
      select sum(pg_column_size(c.data))::bigint from job_log_chunks c where c.job_id = j.id) else 0 end as row_bytes
  from jobs j left join job_logs l on l.job_id = j.id
  where j.organization_id = b.organization_id and j.build_id = b.id and j.kind = 'script'
    and (l.blob_key is not null or l.finished_at is null and l.deleted_at is null
      and exists (select from job_log_chunks c where c.job_id = j.id ${oneByOne}))`

/** For queries with a build `b`: its artifacts whose files are here. */
export const artifactsOf: RawBuilder<unknown> = sql`
  select a.id as artifact_id, a.blob_key, a.file_size as bytes, a.finished_at as uploaded_at from artifacts a
  where a.organization_id = b.organization_id and a.build_id = b.id and a.state = 'finished' and a.blob_key is not null`

/** Artifacts of builds that are not over, such as blocked ones. Their days count from the upload. */
export const dueArtifactsOfOpenBuilds = (limit: number | null): RawBuilder<unknown> => sql`
  select b.pipeline_id, f.artifact_id, f.bytes, f.uploaded_at as finished_at
  from builds b cross join lateral (${artifactsOf}) f
  where b.pipeline_id = p.pipeline_id
    and b.state in ('creating', 'scheduled', 'running', 'failing', 'blocked')
    and f.uploaded_at < p.artifacts_before and ${isInSlice('f.uploaded_at')}
  limit ${limit}::bigint`

/** Archives whose logs are due. */
export const archivesWithDueLogs = (limit: number | null): RawBuilder<unknown> => sql`
  select a.id, a.pipeline_id, a.finished_at from archived_builds a
  where a.pipeline_id = p.pipeline_id and a.logs > 0
    and a.finished_at < p.logs_before and ${isInSlice('a.finished_at')}
  order by a.finished_at, a.id limit ${limit}::bigint`

/** Archives that are due themselves. */
export const dueArchives = (limit: number | null): RawBuilder<unknown> => sql`
  select a.id, a.pipeline_id, a.finished_at, a.size from archived_builds a
  where a.pipeline_id = p.pipeline_id
    and a.finished_at < p.archives_before and ${isInSlice('a.finished_at')}
  order by a.finished_at, a.id limit ${limit}::bigint`
