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
    id: run.id,
    url: runUrl(url, orgSlug, run.suite_slug, run.id),
    web_url:
      run.build_path === null
        ? suiteWebUrl(url, orgSlug, run.suite_slug)
        : `${url}/${orgSlug}/${run.build_path}`,
    suite: { id: run.suite_id, slug: run.suite_slug },
    build_id: run.build_id,
    state: run.is_running ? 'running' : 'finished',
    result: resultOf(run, results_count),
    branch: run.branch,
    commit_sha: run.commit_sha,
    results_count,
    passed_count,
    failed_count,
    skipped_count,
    unknown_count,
    duration: run.duration_seconds,
    failures: run.failures,
    created_at: run.created_at,
    updated_at: run.updated_at,
  }
}

function resultOf({ failed_count, is_running }: RunRow, results: number): Static<typeof TestRun>['result'] {
  if (failed_count > 0) return 'failed'
  if (is_running) return 'pending'
  return results === 0 ? 'stale' : 'passed'
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
