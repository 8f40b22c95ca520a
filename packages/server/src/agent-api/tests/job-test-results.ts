// Files of test results that steps name in `test_results`, or that `millrace test-result` sends. They belong to the build of the job whose token sends them.
import type { TestResultsResponse } from '@millrace/protocol/test-results.ts'
import { badRequest } from '../../lib/errors.ts'
import { mostUploadBytes } from '../../resources/tests/test_runs/read-report.ts'
import { storeReport } from '../../resources/tests/test_runs/store.ts'
import { agentRoute, lastOf } from '../route.ts'

const longestPath = 4096

const postResults = agentRoute({
  method: 'POST',
  url: '/v3/jobs/:job/test_results',
  token: 'job',
  forks: 'own_job',
  bodyLimitBytes: mostUploadBytes,
  async handler({ ctx, job, query, request }) {
    const path = lastOf(query['path']) ?? ''
    if (path === '' || path.length > longestPath) throw badRequest('Path must name the file.')
    const format = lastOf(query['format']) ?? 'junit'
    if (format !== 'junit' && format !== 'json') throw badRequest('Format must be junit or json.')
    const { runId, count, failed, skipped, quarantined } = await storeReport(ctx, job.organizationId, {
      jobId: job.id,
      path,
      format,
      contentEncoding: request.headers['content-encoding']?.toLowerCase() ?? '',
      bytes: request.body,
    })
    const body: TestResultsResponse = { run_id: runId, queued: count, failed, skipped, quarantined }
    return { status: 202, body }
  },
})

export const jobTestResultsApi = [postResults]
