// The process of one job. It is started before there is a job, carries out the one it is sent, reports and ends. It knows
// the token of its job and no other.

import { makeCommandsFolder } from '../commands-folder.ts'
import { startJobReaper } from '../job-reaper.ts'
import { clearWorkplace, prepareWorkplace, runJob } from '../job/run-job.ts'
import { settle } from '../settings.ts'
import type { FromJobProcess, JobWork, ToJobProcess } from './messages.ts'

/** After that the reaper ends what is left of the job. Its server may be gone too, and hear no report. */
const LONGEST_END_MS = 6000

const letGo = new AbortController()
const place = prepareWorkplace()
place.catch(() => {})
// Its own, which no other job can have changed.
const commands = makeCommandsFolder(process.execPath)
commands.catch(() => {})
let running: Promise<void> | null = null

process.on('message', (message: ToJobProcess) => {
  if (message.kind === 'let-go') letGo.abort()
  else running ??= run(message.work)
})
process.on('disconnect', () => void endAlone())
// Ctrl-C and SIGTERM are for the agent, which says when the job has to end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
if (!process.connected) await endAlone()

async function run({ options, session, job, jobStatusIntervalSeconds }: JobWork): Promise<void> {
  const { path: binPath, remove } = await commands
  const settings = settle({ ...options, token: '' })
  const reaper = startJobReaper()
  reaper.watch('folder', binPath)
  const host = { settings, session, binPath, reaper, jobStatusIntervalSeconds, letGo: letGo.signal }
  const report = await runJob(host, job, place)
  await remove()
  await reaper.close()
  const answer: FromJobProcess = { report }
  process.send?.(answer, () => process.exit(0))
  if (!process.connected) process.exit(0)
}

/** The agent is gone, or needs no job process any more. */
async function endAlone(): Promise<void> {
  setTimeout(() => process.exit(1), LONGEST_END_MS).unref()
  letGo.abort()
  if (running !== null) await running.catch(() => {})
  else {
    await place.then(clearWorkplace, () => {})
    await commands.then(({ remove }) => remove()).catch(() => {})
  }
  process.exit(0)
}
