// Results of tests, as test collectors send them from inside jobs, with the token of their suite.
import { runUrl } from '../../resources/tests/suites/present-run.ts'
import { storeResults } from '../../resources/tests/test_runs/store.ts'
import { mostUploadBytes } from '../../resources/tests/test_runs/read-report.ts'
import { readUpload } from './read-test-upload.ts'
import { agentRoute } from '../route.ts'

const postUpload = agentRoute({
  method: 'POST',
  url: '/v1/uploads',
  token: 'suite',
  bodyLimitBytes: mostUploadBytes,
  async handler({ ctx, suite, request }) {
    const { id, headers } = request
    const { env, batches, count, skipped } = await readUpload(
      {
        contentType: headers['content-type'] ?? '',
        contentEncoding: headers['content-encoding']?.toLowerCase() ?? '',
        bytes: request.body,
      },
      { kind: 'upload', organizationId: suite.organizationId, sender: suite.id, until: request.gone() },
    )
    const runId = await storeResults(ctx, suite, env, batches)
    const body = {
      // Under which the server's log knows of it.
      id,
      run_id: runId,
      queued: count,
      skipped,
      errors: [],
      run_url: runUrl(ctx.config.url, suite.organizationSlug, suite.slug, runId),
    }
    return { status: 202, body }
  },
})

export const testUploadApi = [postUpload]
