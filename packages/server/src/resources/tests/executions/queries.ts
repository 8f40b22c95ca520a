import { sql } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Db } from '../../../db/pool.ts'
import { isVisibleRun } from '../suites/visible-results.ts'
import { tagsOf } from '../test_runs/queries.ts'

interface ExecutionRow {
  id: string
  run_id: string
  /** Of the build. */
  job_id: string | null
  result: 'passed' | 'failed' | 'skipped' | 'unknown'
  duration: number | null
  failure_reason: string | null
  branch: string | null
  commit_sha: string | null
  tags: Record<string, string>
  created_at: string
  build: { id: string; number: number; pipeline_slug: string } | null
}

/** Of busy tests, further ones are not looked for: on a branch with few runs, or where the caller may see few of their pipelines. */
const mostRead = 1000

/** Newest first. Those of builds of forks are shown with their build only. */
export async function listOfTest(
  db: Db,
  org: Organization,
  caller: Caller,
  test: { id: string; suiteId: string },
  branch: string | undefined,
  limit: number,
): Promise<ExecutionRow[]> {
  const { rows } = await sql<ExecutionRow>`
    select t.id, t.run_id, case when b.id is not null then t.job_id end as job_id, t.result, t.duration_seconds as duration, t.failure_reason, r.branch, r.commit_sha, ${tagsOf} as tags, t.created_at,
      case when b.id is null then null
        else json_build_object('id', b.id, 'number', b.number, 'pipeline_slug', own.slug) end as build
    from (
      select x.* from test_results x where x.test_id = ${test.id}
      order by x.created_at desc, x.run_id desc limit ${mostRead}
    ) t
    join test_runs r on r.id = t.run_id and r.organization_id = ${org.id} and r.suite_id = ${test.suiteId}
    left join execution_tags e on e.suite_id = r.suite_id and e.execution_id = t.id
    left join builds b on b.id = r.build_id left join pipelines own on own.id = b.pipeline_id
    where ${isVisibleRun(org, caller)} and ${branch === undefined ? sql`true` : sql`r.branch = ${branch}`}
    order by t.created_at desc, t.run_id desc, t.id limit ${limit}`.execute(db)
  return rows
}
