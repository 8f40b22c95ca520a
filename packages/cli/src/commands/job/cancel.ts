import type { Command } from 'commander'
import type { JobOptions } from '../../client/job/find-job.ts'
import { jobCommand } from './options.ts'

export const jobCancel = (): Command =>
  jobCommand('cancel', 'Cancel a job, or stop it if it runs.', 'job cancel test --build 12').action(
    async (job: string | undefined, options: JobOptions) => {
      const { cancelJob } = await import('../../client/job/act.ts')
      await cancelJob(job, options)
    },
  )
