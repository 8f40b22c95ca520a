import type { Static } from 'typebox'
import { suiteUrl } from '../suites/present.ts'
import type { RunRow } from './queries.ts'
import type { TestRun } from './schema.ts'

export const runUrl = (url: string, orgSlug: string, suiteSlug: string, id: string): string =>
  `${suiteUrl(url, orgSlug, suiteSlug)}/test_runs/${id}`

export function presentRun(url: string, orgSlug: string, run: RunRow): Static<typeof TestRun> {
  const { passed_count, failed_count, skipped_count, unknown_count } = run
  const results_count = passed_count + failed_count + skipped_count + unknown_count
  return {
    id: run.id,
    url: runUrl(url, orgSlug, run.suite_slug, run.id),
    suite: { id: run.suite_id, slug: run.suite_slug },
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
