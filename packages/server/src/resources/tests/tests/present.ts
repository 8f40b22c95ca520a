import type { Static } from 'typebox'
import { testUrl } from '../suites/present.ts'
import type { BuildTestRow, TestRow } from './queries.ts'
import type { BuildTest, Test } from './schema.ts'

export function presentTest(
  url: string,
  orgSlug: string,
  suiteSlug: string,
  test: TestRow,
): Static<typeof Test> {
  const { id, scope, name, location, file_name } = test
  return {
    id,
    url: testUrl(url, orgSlug, suiteSlug, id),
    scope,
    name,
    location,
    file_name,
    labels: [],
    ...presentCounts(test),
    duration_avg: test.duration_avg,
    duration_sum: test.duration_sum,
    duration_min: test.duration_min,
    duration_max: test.duration_max,
  }
}

export function presentBuildTest(test: BuildTestRow): Static<typeof BuildTest> {
  const { id, scope, name, location } = test
  return {
    id,
    scope,
    name,
    location,
    state: 'enabled',
    labels: [],
    ...presentCounts(test),
  }
}

function presentCounts(test: Omit<BuildTestRow, 'latest_fail'>) {
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
