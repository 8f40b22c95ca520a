import type { Command } from 'commander'
import type { JobOptions } from '../../client/job/find-job.ts'
import { jobCommand } from './options.ts'

export const jobWaiting = (): Command =>
  jobCommand(
    'waiting',
    'Say why a job has not started.',
    'job waiting test --build 12',
    'the first job that waits',
  ).action(async (job: string | undefined, options: JobOptions) => {
    const { explainWaiting } = await import('../../client/job/act.ts')
    await explainWaiting(job, options)
  })
