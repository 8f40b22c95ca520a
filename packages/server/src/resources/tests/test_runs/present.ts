import type { Static } from 'typebox'
import { testUrl, testWebUrl } from '../suites/present.ts'
import { presentRunOutline, runUrl } from '../suites/present-run.ts'
import type { FailedExecutionRow, RunRow } from './queries.ts'
import type { FailedExecution, TestRun } from './schema.ts'

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
    test_url: row.is_known ? testUrl(url, orgSlug, run.suite_slug, row.test_id) : null,
    test_execution_url: row.is_known
      ? `${testWebUrl(url, orgSlug, run.suite_slug, row.test_id)}?execution_id=${row.id}`
      : null,
    tags: row.tags,
    branch: run.branch,
    commit_sha: run.commit_sha,
    created_at: row.created_at,
    duration: row.duration,
    location: row.location,
    failure_reason: row.failure_reason,
  }
}
