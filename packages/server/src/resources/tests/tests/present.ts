import type { Static } from 'typebox'
import { testUrl, testWebUrl } from '../suites/present.ts'
import type { BuildTestRow } from './of-build.ts'
import type { FlakyRow, TestRow } from './queries.ts'
import type { BuildTest, FlakyTest, Test } from './schema.ts'

const addressesOf = (
  url: string,
  orgSlug: string,
  { id, suite_slug: suite }: { id: string; suite_slug: string },
) => ({
  url: testUrl(url, orgSlug, suite, id),
  web_url: testWebUrl(url, orgSlug, suite, id),
})

export function presentTest(url: string, orgSlug: string, test: TestRow): Static<typeof Test> {
  const { id, scope, name, location, file_name } = test
  return {
    id,
    ...addressesOf(url, orgSlug, test),
    scope,
    name,
    location,
    file_name,
    owner: test.owner,
    labels: test.labels,
    state: test.state,
    quarantine: presentQuarantine(test),
    first_seen_at: test.first_seen_at,
    last_seen_at: test.last_seen_at,
    ...presentCounts(test),
    last_failed_on: test.last_failed_on,
    ...presentDurations(test),
    duration_p50: test.duration_p50,
    duration_p95: test.duration_p95,
  }
}

function presentQuarantine(test: TestRow): Static<typeof Test>['quarantine'] {
  if (test.state === 'enabled' || test.quarantined_at === null) return null
  return {
    since: test.quarantined_at,
    by: test.quarantined_by,
    owner: test.quarantine_owner,
    reason: test.quarantine_reason,
    expires_at: test.quarantine_expires_at,
  }
}

export function presentBuildTest(url: string, orgSlug: string, test: BuildTestRow): Static<typeof BuildTest> {
  const { id, scope, name, location, file_name, state, labels, owner } = test
  return {
    id,
    ...addressesOf(url, orgSlug, test),
    scope,
    name,
    location,
    file_name,
    known: test.is_known,
    state,
    labels,
    owner,
    ...presentCounts(test),
    ...presentDurations(test),
  }
}

export function presentFlakyTest(url: string, orgSlug: string, row: FlakyRow): Static<typeof FlakyTest> {
  const { id, scope, name, location, file_name, instances, evidence_at, resolved_at } = row
  return {
    id,
    web_url: addressesOf(url, orgSlug, row).web_url,
    scope,
    name,
    location,
    file_name,
    instances,
    latest_occurrence_at: evidence_at,
    most_recent_instance_at: evidence_at,
    last_resolved_at: resolved_at,
    ownership_team_ids: [],
  }
}

const presentDurations = ({ duration_avg, duration_sum, duration_min, duration_max }: Durations) => ({
  duration_avg,
  duration_sum,
  duration_min,
  duration_max,
})

type Durations = Pick<BuildTestRow, 'duration_avg' | 'duration_sum' | 'duration_min' | 'duration_max'>

function presentCounts(
  test: Pick<BuildTestRow, 'passed_count' | 'failed_count' | 'skipped_count' | 'unknown_count'>,
) {
  const { passed_count: passed, failed_count: failed, skipped_count: skipped, unknown_count: unknown } = test
  return {
    executions_count: passed + failed + skipped + unknown,
    executions_count_by_result: {
      passed,
      failed,
      ...(skipped > 0 ? { skipped } : {}),
      ...(unknown > 0 ? { unknown } : {}),
    },
    reliability: passed + failed === 0 ? null : passed / (passed + failed),
  }
}
