import { okJson } from '../../../http/answer.ts'
import { workOf } from '../../../http/limits/gone.ts'
import { route } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import { findBuild } from './queries.ts'
import { FailureSummary, FailureSummaryQuery } from './schema.ts'
import { summarizeFailures } from './summarize.ts'

const getFailureSummaryRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/failure_summary',
  summary: 'Get why a build failed or goes no further, in one bounded answer',
  scope: 'read_builds',
  permission: 'read_pipeline',
  query: FailureSummaryQuery,
  answers: { 200: FailureSummary },
  errors: { 400: '`max_bytes` or `max_jobs` is not a whole number in range.' },
  async handler({ ctx, org, caller, params, query, gone }) {
    const build = await findBuild(ctx.db, org.id, params.pipeline, params.build)
    if (build === undefined) throw notFound('No build found')
    const wanted = {
      maxBytes: query.max_bytes ?? 64 * 1024,
      maxJobs: query.max_jobs ?? 10,
      hasStyles: query.styles === true,
    }
    const work = workOf('page', { org, caller, gone })
    return okJson(await summarizeFailures({ ctx, org, caller }, build, wanted, work))
  },
})

export const failureSummaryRoutes = [getFailureSummaryRoute]
