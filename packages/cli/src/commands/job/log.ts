import type { Command } from 'commander'
import { readCount } from '../../client/command.ts'
import type { LogOptions } from '../../client/log/render.ts'
import { jobCommand } from './options.ts'

export const jobLog = (): Command =>
  jobCommand('log', 'Print the log of a job.', 'job log test --build 12 --follow')
    .option('-f, --follow', 'print what comes until the job ends')
    .option('--tail <count>', 'only the last rows', readCount)
    .option('--times', 'with the time of each row, in UTC')
    .action(async (job: string | undefined, options: LogOptions) => {
      const { showLog } = await import('../../client/log/show-log.ts')
      await showLog(job, options)
    })
