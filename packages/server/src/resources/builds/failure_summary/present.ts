import { annotationText } from '../log/findings/annotation-text.ts'
import { cutText, plainText } from '../log/screen/plain-text.ts'
import type { FoundLog } from './logs.ts'
import type { AnnotationRow, BuildRow, CountRow, ProblemRow, RangeRow, TestRow } from './queries.ts'
import type {
  Summary,
  SummarizedAnnotation,
  SummarizedCause,
  SummarizedJob,
  SummarizedLog,
  SummarizedTest,
} from './schema.ts'
import { testUrl } from '../../tests/suites/present.ts'

/** The addresses of a build and of what belongs to it. */
export interface BuildUrls {
  /** Of the organization in the API. */
  organization: string
  /** Of the build in the API. */
  build: string
  /** Of the build for a browser. */
  page: string
  root: string
  orgSlug: string
}

export function urlsOf(
  root: string,
  orgSlug: string,
  build: Pick<BuildRow, 'pipeline_slug' | 'number'>,
): BuildUrls {
  const organization = `${root}/v2/organizations/${orgSlug}`
  return {
    organization,
    build: `${organization}/pipelines/${build.pipeline_slug}/builds/${build.number}`,
    page: `${root}/${orgSlug}/${build.pipeline_slug}/builds/${build.number}`,
    root,
    orgSlug,
  }
}

const plainOrNull = (text: string | null) => (text === null ? null : plainText(text))

export const presentBuild = (urls: BuildUrls, build: BuildRow): Summary['build'] => ({
  id: build.id,
  number: build.number,
  pipeline_slug: build.pipeline_slug,
  state: build.shown_state,
  blocked: build.state === 'blocked',
  message: plainOrNull(build.message),
  branch: plainText(build.shown_branch),
  commit: plainText(build.commit),
  url: urls.build,
  web_url: urls.page,
  created_at: build.created_at,
  started_at: build.started_at,
  finished_at: build.finished_at,
})

type JobCounts = Omit<Summary['counts'], 'annotations' | 'error_annotations' | 'failed_tests'>

const countedAs: Readonly<Record<string, keyof JobCounts>> = {
  passed: 'passed',
  unblocked: 'passed',
  assigned: 'running',
  accepted: 'running',
  running: 'running',
  canceling: 'running',
  canceled: 'canceled',
  skipped: 'canceled',
  waiting_failed: 'not_run',
  blocked_failed: 'not_run',
  unblocked_failed: 'not_run',
  broken: 'left_out',
}

/** Every job counts once, apart from `jobs`. */
export function presentCounts(rows: readonly CountRow[]): JobCounts {
  const counts: JobCounts = {
    jobs: 0,
    hard_failures: 0,
    soft_failures: 0,
    passed: 0,
    running: 0,
    waiting: 0,
    canceled: 0,
    not_run: 0,
    left_out: 0,
  }
  for (const { state, is_problem, soft_failed, count } of rows) {
    const failure = soft_failed ? 'soft_failures' : 'hard_failures'
    counts.jobs += count
    counts[is_problem ? failure : (countedAs[state] ?? 'waiting')] += count
  }
  return counts
}

export function presentJob(
  urls: BuildUrls,
  job: ProblemRow,
  { found, hasStyles, cause }: { found: FoundLog; hasStyles: boolean; cause: SummarizedCause },
): SummarizedJob {
  const web_url = `${urls.page}#${job.id}`
  return {
    id: job.id,
    type: job.kind,
    name: plainOrNull(job.name),
    step_key: job.step_key,
    state: job.state,
    soft_failed: job.soft_failed,
    exit_status: job.exit_status,
    signal: plainOrNull(job.signal),
    signal_reason: plainOrNull(job.signal_reason),
    reason: plainOrNull(reasonOf(job)),
    command: plainOrNull(job.command),
    attempt: job.retries_count + 1,
    agent: plainOrNull(job.agent_name),
    started_at: job.started_at,
    finished_at: job.finished_at,
    url: `${urls.build}/jobs/${job.id}`,
    web_url,
    triggered_build_url:
      job.triggered_slug === null || job.triggered_number === null
        ? null
        : `${urls.organization}/pipelines/${job.triggered_slug}/builds/${job.triggered_number}`,
    log: presentLog(web_url, found, hasStyles),
    cause,
  }
}

function reasonOf({ state, note }: ProblemRow): string | null {
  if (note !== null) return note
  if (state === 'expired') return 'no agent took it in time'
  if (state === 'timing_out') return 'exceeds its timeout'
  return state === 'running' ? 'has reported that it will fail' : null
}

function presentLog(jobUrl: string, found: FoundLog, hasStyles: boolean): SummarizedLog {
  const { status } = found
  if (status !== 'shown') {
    return { status, group: null, failing_row: null, total_rows: null, rows: [], web_url: null }
  }
  const { group, failing_row, total_rows, rows } = found.excerpt
  const row = failing_row ?? rows.at(-1)?.row ?? null
  return {
    status,
    group: group === null ? null : cutText(plainText(group), 200),
    failing_row,
    total_rows,
    rows: hasStyles ? rows : rows.map(({ row: number, text }) => ({ row: number, text })),
    web_url: row === null ? jobUrl : `${jobUrl}/L${row}`,
  }
}

export const presentAnnotation = (row: AnnotationRow): SummarizedAnnotation => ({
  id: row.id,
  context: plainText(row.context),
  job_id: row.job_id,
  text: annotationText(row.body) + (row.is_cut ? '…' : ''),
})

const mostDetailCharacters = 2000

export const presentTest = (urls: BuildUrls, test: TestRow): SummarizedTest => ({
  id: test.id,
  suite_slug: test.suite_slug,
  scope: plainText(test.scope),
  name: plainText(test.name),
  location: plainOrNull(test.location),
  failed_count: test.failed_count,
  passed_count: test.passed_count,
  quarantine: test.quarantine,
  flaky: test.passed_count > 0 || test.passed_elsewhere,
  recent_failures: test.recent_failures,
  labels: test.labels.map(plainText),
  failure_reason: plainOrNull(test.failure_reason),
  details: detailsOf(test),
  known: test.is_known,
  url: testUrl(urls.root, urls.orgSlug, test.suite_slug, test.id),
})

function detailsOf({ failure_expanded }: TestRow): string | null {
  const lines = failure_expanded.flatMap(({ expanded, backtrace }) => [
    ...(expanded ?? []),
    ...(backtrace ?? []),
  ])
  const text = plainText(lines.map((line) => line.slice(0, mostDetailCharacters)).join('\n')).trim()
  return text === '' ? null : cutText(text, mostDetailCharacters)
}

const hash = /^[0-9a-f]{7,64}$/i

/** null: it is not known which build passed last. */
export function presentRange(
  urls: BuildUrls,
  build: BuildRow,
  rows: readonly RangeRow[],
): Summary['first_bad'] {
  const passed = rows.find(({ which }) => which === 'last_passed')
  if (passed === undefined) return null
  const failed = rows.find(({ which }) => which === 'first_failed') ?? {
    number: build.number,
    commit: build.commit,
    state: build.shown_state,
    finished_at: build.finished_at,
  }
  const present = ({ number, commit, state, finished_at }: Omit<RangeRow, 'which'>) => ({
    number,
    commit: plainText(commit),
    state,
    url: urls.build.replace(/\d+$/, String(number)),
    web_url: urls.page.replace(/\d+$/, String(number)),
    finished_at,
  })
  return {
    last_passed: present(passed),
    first_failed: present(failed),
    commits:
      hash.test(passed.commit) && hash.test(failed.commit) ? `${passed.commit}..${failed.commit}` : null,
  }
}
