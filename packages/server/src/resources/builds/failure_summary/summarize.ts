import { hasScope } from '../../../auth/caller.ts'
import type { RequestContext } from '../../../context.ts'
import { batch } from '../../../db/batch.ts'
import type { WorkOwner } from '../../../lib/threads.ts'
import { explainWaiting } from '../jobs/waiting.ts'
import { cutText, plainText } from '../log/screen/plain-text.ts'
import { findCauses } from './causes.ts'
import { fit } from './fit.ts'
import { findFailingRows, type FoundLog } from './logs.ts'
import {
  urlsOf,
  presentAnnotation,
  presentBuild,
  presentCounts,
  presentJob,
  presentRange,
  presentTest,
  type BuildUrls,
} from './present.ts'
import * as summaries from './queries.ts'
import { largestAnswer, mostJobs, type Summary } from './schema.ts'

const mostRowsEach = 50
const mostTests = 50
const mostAnnotations = 20
const mostPlaces = 5

interface Limits {
  maxBytes: number
  maxJobs: number
}

interface Wanted extends Limits {
  /** Rows of logs have their colors too. */
  hasStyles: boolean
}

/** The summary as JSON text. */
export async function summarizeFailures(
  { ctx, org, caller }: RequestContext,
  build: summaries.BuildRow,
  { maxBytes, maxJobs, hasStyles }: Wanted,
  work: WorkOwner,
): Promise<string> {
  const [counted, problems, waiting, annotations, [annotationCounts], tests, range] = await batch(ctx.db, [
    summaries.countJobs(org.id, build.id),
    summaries.listProblems(org.id, build.id, maxJobs),
    summaries.listWaiting(org.id, build.id, mostPlaces),
    summaries.listErrorAnnotations(org.id, build.id, mostAnnotations),
    summaries.countAnnotations(org.id, build.id),
    summaries.listFailedTests(org.id, build, mostTests),
    summaries.findRange(org.id, build),
  ])
  const mayReadLogs = hasScope(caller, 'read_build_logs')
  const [logs, explained] = await Promise.all([
    mayReadLogs
      ? findFailingRows(
          ctx,
          org.id,
          problems.map(({ id }) => id),
          mostRowsEach,
          work,
        )
      : null,
    Promise.all(waiting.map((row) => explain({ ctx, org, caller }, row))),
  ])
  const logOf = ({ id, kind }: summaries.ProblemRow): FoundLog => {
    if (kind !== 'script') return { status: 'none' }
    return logs === null ? { status: 'not_permitted' } : (logs.get(id) ?? { status: 'deleted' })
  }
  const causes = logs === null ? null : await findCauses({ ctx, org, caller }, build.id, logs)
  const urls = urlsOf(ctx.config.url, org.slug, build)
  const counts = presentCounts(counted)
  const failedTests = tests[0]?.total ?? 0
  const { all = 0, errors = 0 } = annotationCounts ?? {}
  const hasFailed = counts.hard_failures > 0 || build.shown_state === 'failed'
  const excerpts = [...(logs?.values() ?? [])].flatMap((log) => (log.status === 'shown' ? [log.excerpt] : []))
  return fit(
    {
      build: presentBuild(urls, build),
      counts: { ...counts, annotations: all, error_annotations: errors, failed_tests: failedTests },
      jobs: problems.map((job) =>
        presentJob(urls, job, { found: logOf(job), hasStyles, cause: causes?.get(job.id) ?? null }),
      ),
      annotations: annotations.map(presentAnnotation),
      tests: tests.map((test) => presentTest(urls, test)),
      waiting: explained.map((entry) => ({ ...entry, web_url: `${urls.page}#${entry.job_id}` })),
      first_bad: hasFailed ? presentRange(urls, build, range) : null,
    },
    {
      jobs: counts.hard_failures + counts.soft_failures - problems.length,
      rows: excerpts.reduce((sum, { leftOut }) => sum + leftOut, 0),
      annotations: errors - annotations.length,
      tests: failedTests - tests.length,
      waiting: (waiting[0]?.total ?? 0) - waiting.reduce((sum, { jobs }) => sum + jobs, 0),
      texts:
        excerpts.reduce((sum, { cutTexts }) => sum + cutTexts, 0) +
        annotations.filter(({ is_cut }) => is_cut).length,
    },
    { maxBytes, reason: howToGetMore(urls, { maxBytes, maxJobs }) },
  )
}

type PlaceWaiting = Omit<Summary['waiting'][number], 'web_url'>

async function explain(
  { ctx, org, caller }: RequestContext,
  { id, name, step_key, state, jobs }: summaries.WaitingRow,
): Promise<PlaceWaiting> {
  const { code, reason } = await explainWaiting({ ctx, org, caller }, { id })
  return {
    job_id: id,
    name: name === null ? null : plainText(name),
    step_key,
    state,
    code,
    reason: cutText(plainText(reason), 1000),
    jobs,
  }
}

function howToGetMore({ build }: BuildUrls, { maxBytes, maxJobs }: Limits): string {
  const limits = `max_bytes=${maxBytes} (at most ${largestAnswer}) and max_jobs=${maxJobs} (at most ${mostJobs})`
  return `Limited by ${limits}, ${mostRowsEach} rows of each log and ${mostTests} tests. Everything is below ${build}: jobs, jobs/{job}/log/rows, annotations, test_runs.`
}
