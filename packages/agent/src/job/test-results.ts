// Sends the files that the step names in `test_results`, even after a failed command. They never change the result of a job.

import { readFile, stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { MOST_RESULT_BYTES, sendTestResults } from '../api/test-results.ts'
import { findFiles } from '../artifacts/find.ts'
import type { FoundFile } from '../artifacts/find.ts'
import type { JobRun } from './run.ts'

export async function sendJobTestResults(run: JobRun): Promise<void> {
  const patterns = run.job.step?.test_results ?? []
  if (patterns.length === 0 || run.cancel.requested !== null) return
  run.log.say('~~~ Sending test results')
  try {
    const files = await findFiles(patterns.join(';'), run.cwd)
    if (files.length === 0) run.log.say(`No files match ${patterns.join(';')}`)
    for (const file of files) await sendFile(run, file)
  } catch (error) {
    run.log.say(`# No test results were sent: ${messageOf(error)}`)
  }
}

async function sendFile({ api, job, log }: JobRun, { path, absolutePath }: FoundFile): Promise<void> {
  try {
    const { size } = await stat(absolutePath)
    if (size > MOST_RESULT_BYTES)
      throw new Error(`the file has more than ${MOST_RESULT_BYTES / 1024 / 1024} MiB`)
    const gzipped = await promisify(gzip)(await readFile(absolutePath))
    const { queued, failed, skipped } = await sendTestResults(api, job.id, { path, format: 'junit', gzipped })
    const nameless = skipped === 0 ? '' : `, ${skipped} left out because they name no test`
    log.say(`  ${path}: ${queued} ${queued === 1 ? 'test' : 'tests'}, ${failed} failed${nameless}`)
  } catch (error) {
    log.say(`  ${path} was not sent: ${messageOf(error)}`)
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
