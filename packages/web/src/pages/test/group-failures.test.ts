import { expect, it } from 'vitest'
import { groupFailures } from './group-failures.ts'

it('puts failures together that differ in numbers only, the most frequent first', () => {
  const failed = (failure_reason: string | null, created_at: string) => ({
    result: 'failed' as const,
    failure_reason,
    created_at,
    build: null,
    job_id: null,
  })
  const groups = groupFailures([
    failed('no answer', '5'),
    failed('timeout after 31 ms', '4'),
    { ...failed('timeout after 1 ms', '3'), result: 'passed' as const },
    failed('timeout after 30 ms', '2'),
    failed(null, '1'),
  ])
  expect(groups.map(({ reason, count, last }) => [reason, count, last.created_at])).toEqual([
    ['timeout after 31 ms', 2, '4'],
    ['no answer', 1, '5'],
    [null, 1, '1'],
  ])
})
