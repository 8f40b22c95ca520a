import type { FailureSummary } from '@millrace/server/wire.ts'
import { describe, expect, it } from 'vitest'
import { openStyle } from '../style.ts'
import { describeSummary } from './summary.ts'

const at = '2026-01-02T03:04:05.678Z'
const evil = 'a\u001b[2Jb'

const job: FailureSummary['jobs'][number] = {
  id: 'id-of-job',
  type: 'script',
  name: 'Test',
  step_key: 'test',
  state: 'failed',
  soft_failed: false,
  exit_status: 3,
  signal: null,
  signal_reason: null,
  reason: 'exit 3',
  command: 'make test',
  attempt: 2,
  agent: 'linux-1',
  started_at: at,
  finished_at: at,
  url: '',
  web_url: '',
  triggered_build_url: null,
  cause: null,
  log: {
    status: 'shown',
    group: 'Tests',
    failing_row: 7,
    total_rows: 9,
    rows: [
      { row: 6, text: 'one' },
      { row: 7, text: evil },
    ],
    web_url: null,
  },
}

const summary: FailureSummary = {
  build: {
    id: 'b',
    number: 12,
    pipeline_slug: 'web',
    state: 'failed',
    blocked: false,
    message: null,
    branch: 'main',
    commit: 'c',
    url: '',
    web_url: '',
    created_at: at,
    started_at: at,
    finished_at: at,
  },
  counts: {
    jobs: 4,
    hard_failures: 1,
    soft_failures: 0,
    passed: 2,
    running: 0,
    waiting: 0,
    canceled: 0,
    not_run: 1,
    left_out: 0,
    annotations: 1,
    error_annotations: 1,
    failed_tests: 1,
  },
  jobs: [job],
  annotations: [{ id: 'a', context: 'lint', job_id: null, text: `first\n${evil}` }],
  tests: [
    {
      id: 't',
      suite_slug: 's',
      scope: 'Login',
      name: 'works',
      location: 'login.test.ts:3',
      failed_count: 1,
      passed_count: 1,
      flaky: true,
      quarantine: 'muted',
      recent_failures: 0,
      known: true,
      labels: [],
      failure_reason: evil,
      details: null,
      url: '',
    },
  ],
  waiting: [],
  first_bad: null,
  truncated: null,
}

describe('the summary of a failed build', () => {
  it('has the colors of the log on a terminal', () => {
    const [job] = summary.jobs
    if (job === undefined) throw new Error('The summary has no job.')
    const runs = [['E   no', 'fg1'], ' more\u001b[2J']
    const log = { ...job.log, rows: [{ row: 7, text: 'E   no more', runs }] }
    const style = openStyle({ color: true }, { isTTY: true }, {})
    expect(describeSummary({ ...summary, jobs: [{ ...job, log }] }, style)).toContain(
      '  | \u001b[31mE   no\u001b[0m more␛[2J',
    )
  })

  it('shows failed jobs with their logs, tests and annotations, without control characters', () => {
    expect(describeSummary(summary, openStyle({ color: false }))).toEqual([
      'Build #12 of web on main  ✗ failed',
      '4 jobs, 1 failed, 1 tests failed, 2 passed, 1 not run',
      '',
      '✗ failed  Test  exit 3, attempt 2, on linux-1',
      '  Tests',
      '  | one',
      '  | a␛[2Jb',
      '  The whole log: millrace job log id-of-job',
      '',
      'Failed tests',
      '  Login works (login.test.ts:3), muted, flaky: a␛[2Jb',
      '',
      'Error annotations',
      '  lint: first\n  a␛[2Jb',
    ])
  })
})
