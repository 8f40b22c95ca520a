import type { Static } from 'typebox'
import { suiteUrl, suiteWebUrl, testUrl, testWebUrl } from '../suites/present.ts'
import type { FailedExecutionRow, RunRow } from './queries.ts'
import type { FailedExecution, TestRun } from './schema.ts'

export const runUrl = (url: string, orgSlug: string, suiteSlug: string, id: string): string =>
  `${suiteUrl(url, orgSlug, suiteSlug)}/test_runs/${id}`

export function presentRun(url: string, orgSlug: string, run: RunRow): Static<typeof TestRun> {
  const { passed_count, failed_count, skipped_count, unknown_count } = run
  const results_count = passed_count + failed_count + skipped_count + unknown_count
  return {
    ...presentRunOutline(url, orgSlug, run),
    suite: { id: run.suite_id, slug: run.suite_slug },
    build_id: run.build_id,
    commit_sha: run.commit_sha,
    results_count,
    passed_count,
    failed_count,
    skipped_count,
    unknown_count,
    duration: run.duration_seconds,
    failures: run.failures,
    updated_at: run.updated_at,
  }
}

type Outline = Pick<
  RunRow,
  | 'id'
  | 'suite_slug'
  | 'build_path'
  | 'is_running'
  | 'branch'
  | 'created_at'
  | 'passed_count'
  | 'failed_count'
  | 'skipped_count'
  | 'unknown_count'
>

/** What lists of other things say of a run. */
export const presentRunOutline = (url: string, orgSlug: string, run: Outline) => ({
  id: run.id,
  url: runUrl(url, orgSlug, run.suite_slug, run.id),
  web_url:
    run.build_path === null
      ? suiteWebUrl(url, orgSlug, run.suite_slug)
      : `${url}/${orgSlug}/${run.build_path}`,
  state: run.is_running ? ('running' as const) : ('finished' as const),
  result: resultOf(run),
  branch: run.branch,
  created_at: run.created_at,
})

function resultOf(run: Outline): Static<typeof TestRun>['result'] {
  if (run.failed_count > 0) return 'failed'
  if (run.is_running) return 'pending'
  return run.passed_count + run.skipped_count + run.unknown_count === 0 ? 'stale' : 'passed'
}

export function presentFailedExecution(
  url: string,
  orgSlug: string,
  run: RunRow,
  row: FailedExecutionRow,
): Static<typeof FailedExecution> {
  return {
    execution_id: row.id,
    run_id: run.id,
    run_name: run.key,
    run_url: runUrl(url, orgSlug, run.suite_slug, run.id),
    test_id: row.test_id,
    test_name: [row.scope, row.name].filter((part) => part !== '').join(' '),
    test_url: testUrl(url, orgSlug, run.suite_slug, row.test_id),
    test_execution_url: `${testWebUrl(url, orgSlug, run.suite_slug, row.test_id)}?execution_id=${row.id}`,
    tags: row.tags,
    branch: run.branch,
    commit_sha: run.commit_sha,
    created_at: row.created_at,
    duration: row.duration,
    location: row.location,
    failure_reason: row.failure_reason,
  }
}
