import type { TestResultsResponse } from '@millrace/protocol/test-results.ts'
import { ask, path } from '../http/call.ts'
import type { Api } from '../http/call.ts'

/** Larger files are not sent. */
export const MOST_RESULT_BYTES = 64 * 1024 * 1024

export function sendTestResults(
  api: Api,
  jobId: string,
  file: { path: string; format: 'junit' | 'json'; gzipped: Buffer },
): Promise<TestResultsResponse> {
  return ask(api, 'testResults', {
    method: 'POST',
    path: path('jobs', jobId, 'test_results'),
    query: { path: file.path, ...(file.format === 'junit' ? {} : { format: file.format }) },
    bytes: {
      body: file.gzipped,
      type: file.format === 'junit' ? 'application/xml' : 'application/json',
      encoding: 'gzip',
    },
  })
}
