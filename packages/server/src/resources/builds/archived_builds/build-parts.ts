// The parts of an archived build beside the build and its jobs, as JSON texts.
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../../db/pool.ts'
import { stepObject } from '../graph/queries.ts'

interface BuildParts {
  steps: string
  edges: string
  annotations: string
  artifacts: string
  logs: string
  step_uploads: string
  test_runs: string
}

const list = (rows: RawBuilder<unknown>) =>
  sql`(select coalesce(json_agg(listed), '[]')::text from (${rows}) listed)`

/** Failed tests of a run beyond these are left out. */
const mostFailures = 200

/** undefined: the build was deleted meanwhile. */
export async function readParts(
  db: Db,
  url: string,
  orgId: string,
  id: string,
): Promise<BuildParts | undefined> {
  const { rows } = await sql<BuildParts>`
    select
      (select concat('[', string_agg(${stepObject}, ',' order by s.position), ']')
        from build_steps s where s.build_id = b.id) as steps,
      (select concat('[', string_agg(distinct format('["%s","%s"]', e.from_step, e.to_step), ','), ']')
        from build_steps s join build_edges e on e.to_step = s.id where s.build_id = b.id) as edges,
      ${list(sql`
        select a.id, a.context, a.style, case when a.job_id is null then 'build' else 'job' end as scope, a.job_id,
          a.priority, a.body, iso(a.created_at) as created_at, iso(a.updated_at) as updated_at
        from annotations a where a.build_id = b.id order by a.priority desc, a.created_at, a.id`)} as annotations,
      ${list(sql`
        select a.id, a.job_id, a.state, a.path, a.mime_type, a.file_size, a.sha1sum, a.sha256sum,
          nullif(a.external_url, '') as external_url
        from artifacts a where a.build_id = b.id and a.state <> 'deleted' order by a.created_at, a.id`)} as artifacts,
      ${list(sql`
        select l.job_id, l.size, l.deleted_at is not null as deleted,
          ${url}::text || '/v2/organizations/' || o.slug || '/pipelines/' || p.slug || '/builds/' || b.number || '/jobs/'
            || j.id || '/log' as url
        from jobs j join job_logs l on l.job_id = j.id
        where j.build_id = b.id and (l.blob_key is not null or l.deleted_at is not null)
        order by j.position, j.created_at, j.id`)} as logs,
      ${list(sql`
        select u.id as uuid, u.state, u.source_job_id, u.replace_existing_steps, u.rejection_type, u.message,
          nullif(u.definition_yaml, '') as definition_yaml, iso(u.created_at) as created_at
        from step_uploads u where u.build_id = b.id order by u.created_at, u.id`)} as step_uploads,
      ${list(sql`
        select r.id, suite.slug as suite_slug, r.branch, r.commit_sha, r.passed_count, r.failed_count, r.skipped_count,
          r.unknown_count, r.duration_seconds as duration, iso(r.created_at) as created_at,
          (select coalesce(json_agg(f), '[]') from (
            select t.scope, t.name, t.location, t.file_name, t.failure_reason, t.duration_seconds as duration
            from test_results t where t.run_id = r.id and t.result = 'failed'
            order by t.created_at, t.id limit ${mostFailures}) f) as failures
        from test_runs r join test_suites suite on suite.id = r.suite_id
        where r.build_id = b.id order by r.created_at, r.id`)} as test_runs
    from builds b join pipelines p on p.id = b.pipeline_id join organizations o on o.id = b.organization_id
    where b.organization_id = ${orgId} and b.id = ${id}`.execute(db)
  return rows[0]
}
