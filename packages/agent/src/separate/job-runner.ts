// Runs each job of one agent in a process of its own.
import type { JobRunner } from '../job/run-job.ts'
import type { SeparateJobs } from '../settings.ts'
import { runInProcess, startJobProcess } from './job-process.ts'
import { keepReady } from './ready-processes.ts'

export function runSeparately({ trusted, forks }: SeparateJobs): JobRunner {
  const ready = keepReady(trusted)
  return {
    async run(host, job) {
      if (job.from_fork === true && forks !== null)
        return await runInProcess(startJobProcess(forks), forks, host, job)
      const running = runInProcess(ready.take(), trusted, host, job)
      // The start of a process takes time from the job, so a second one is started after it. Outside of a sandbox a job could
      // reach a process of its user that waits.
      if (trusted.sandbox !== null) ready.startFirst()
      try {
        return await running
      } finally {
        ready.startMore()
      }
    },
    close: () => ready.close(),
  }
}
