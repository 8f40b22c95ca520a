// The process of one job. It starts before there is a job, runs the job it receives, reports and exits. It has only the
// token of its job.

import { mkdirSync } from 'node:fs'
import { makeCommandsFolder } from '../commands-folder.ts'
import { trustAlso } from '../http/https.ts'
import { startJobReaper } from '../job-reaper.ts'
import { runJob } from '../job/run-job.ts'
import { openWorkplaces } from '../job/workplaces.ts'
import { withDefaults } from '../settings.ts'
import { lineOf, readLines, type FromJobProcess, type JobWork, type ToJobProcess } from './messages.ts'

/** After that the reaper kills the rest of the job. The server may be unreachable, so a report could take for ever. */
const LONGEST_END_MS = 6000

const abandon = new AbortController()
const workplaces = openWorkplaces(1)
const workplace = workplaces.prepare()
workplace.catch(() => {})
// A folder of this process, which no other job can change.
const commands = makeCommandsFolder(process.execPath)
commands.catch(() => {})
let running: Promise<void> | null = null

// Only the agent writes there.
readLines(process.stdin, Infinity, (line) => {
  const message = JSON.parse(line) as ToJobProcess
  if (message.kind === 'let-go') abandon.abort()
  else running ??= run(message.work)
})
// Node closes no standard input that is a file, such as /dev/null.
process.stdin.once('end', () => void endAlone())
process.stdin.once('error', () => void endAlone())
process.stdout.on('error', () => {})
// The agent handles Ctrl-C and SIGTERM, and stops this process.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

async function run({ options, session, job, jobStatusIntervalSeconds }: JobWork): Promise<void> {
  const { path: binPath, remove } = await commands
  const home = options.environment?.['HOME']
  if (home !== undefined) mkdirSync(home, { recursive: true, mode: 0o700 })
  trustAlso(options.environment?.['NODE_EXTRA_CA_CERTS'])
  const settings = withDefaults({ ...options, token: '' })
  const reaper = startJobReaper()
  reaper.watch('folder', binPath)
  const host = {
    settings,
    session,
    binPath,
    reaper,
    workplaces,
    jobStatusIntervalSeconds,
    abandoned: abandon.signal,
  }
  const report = await runJob(host, job, workplace)
  await workplaces.close()
  await remove()
  await reaper.close()
  const answer: FromJobProcess = { report }
  process.stdout.write(lineOf(answer), () => process.exit(0))
}

/** The agent has exited, or needs no further process. */
async function endAlone(): Promise<void> {
  setTimeout(() => process.exit(1), LONGEST_END_MS).unref()
  abandon.abort()
  if (running !== null) await running.catch(() => {})
  else {
    await workplaces.close()
    await commands.then(({ remove }) => remove()).catch(() => {})
  }
  process.exit(0)
}
