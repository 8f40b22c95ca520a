import type { Static } from 'typebox'
import { suiteUrl, suiteWebUrl } from './present.ts'
import type { runResult } from './schema.ts'

export const runUrl = (url: string, orgSlug: string, suiteSlug: string, id: string): string =>
  `${suiteUrl(url, orgSlug, suiteSlug)}/test_runs/${id}`

interface Run {
  id: string
  suite_slug: string
  /** Null without a build. */
  build_path: string | null
  /** Its build has not finished. */
  is_running: boolean
  branch: string | null
  created_at: string
  passed_count: number
  failed_count: number
  skipped_count: number
  unknown_count: number
}

/** What lists of suites say of a run, too. */
export const presentRunOutline = (url: string, orgSlug: string, run: Run) => ({
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

function resultOf(run: Run): Static<typeof runResult> {
  if (run.failed_count > 0) return 'failed'
  if (run.is_running) return 'pending'
  return run.passed_count + run.skipped_count + run.unknown_count === 0 ? 'stale' : 'passed'
}
