import type { Command } from 'commander'
import type { JobOptions } from '../../client/job/find-job.ts'
import { jobCommand } from './options.ts'

export const jobRetry = (): Command =>
  jobCommand('retry', 'Retry a failed job.', 'job retry test --build 12').action(
    async (job: string | undefined, options: JobOptions) => {
      const { retryJob } = await import('../../client/job/act.ts')
      await retryJob(job, options)
    },
  )
