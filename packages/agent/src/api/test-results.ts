import type { TestResultsResponse } from '@millrace/protocol/test-results.ts'
import { ask, path } from '../http/call.ts'
import type { Api } from '../http/call.ts'

export function sendTestResults(
  api: Api,
  jobId: string,
  file: { path: string; gzipped: Buffer },
): Promise<TestResultsResponse> {
  return ask(api, 'testResults', {
    method: 'POST',
    path: path('jobs', jobId, 'test_results'),
    query: { path: file.path },
    bytes: { body: file.gzipped, type: 'application/xml', encoding: 'gzip' },
  })
}
