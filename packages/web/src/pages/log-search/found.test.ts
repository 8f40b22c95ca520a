import { describe, expect, it } from 'vitest'
import { groupHits, progressText, type Hit } from './found.ts'

const hit = (build: string, job: string, row: number): Hit => ({
  build: {
    id: build,
    number: 1,
    pipeline_slug: 'p',
    branch: 'main',
    created_at: '2026-01-02T03:04:05.678Z',
    url: '',
    web_url: '',
  },
  job: { id: job, name: job, step_key: null, state: 'failed', web_url: '' },
  kind: 'log',
  row,
  annotation: null,
  test: null,
  text: 'x',
  start: 0,
  end: 1,
  web_url: '',
})

describe('what a search has found', () => {
  it('is grouped by build and job, in the order in which it came', () => {
    const found = groupHits([hit('2', 'a', 1), hit('2', 'b', 2), hit('1', 'c', 3), hit('2', 'a', 4)])
    expect(
      found.map(({ build, jobs }) => [
        build.id,
        jobs.map(({ job, hits }) => [job.id, hits.map(({ row }) => row)]),
      ]),
    ).toEqual([
      [
        '2',
        [
          ['a', [1, 4]],
          ['b', [2]],
        ],
      ],
      ['1', [['c', [3]]]],
    ])
  })

  it('says how far the search came', () => {
    expect(progressText({ searched: 812, total: 1200, is_total_exact: true }, false)).toBe(
      'searched 812 of 1,200 logs',
    )
    expect(progressText({ searched: 3, total: 10_000, is_total_exact: false }, true)).toBe(
      'searched 3 of more than 10,000 failed jobs',
    )
  })
})
