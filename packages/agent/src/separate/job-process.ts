import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Job } from '@millrace/protocol/jobs.ts'
import { openSession } from '../http/session.ts'
import { report } from '../job/run-job.ts'
import type { JobHost, JobReport } from '../job/run-job.ts'
import { makeJobFolders } from './job-folders.ts'
import type { JobFolders } from './job-folders.ts'
import { launchJobProcess, type LaunchedProcess } from './launch.ts'
import { workspaceName } from '../job/environment.ts'
import type { JobLaunch } from '../settings.ts'
import { lineOf, readAnswer, type FromJobProcess, type ToJobProcess } from './messages.ts'

/** The process of one job. It is started before there is a job. */
export interface JobProcess {
  /** null: it could not be started. */
  child: LaunchedProcess | null
  /** null: not in a sandbox. */
  folders: JobFolders | null
  /** The end of its standard error, which has the reason of a failure. */
  words(): string
  hasEnded(): boolean
  ended: Promise<unknown>
}

const MAX_WORDS = 4096
const LAST_WORDS_MS = 5000

export function startJobProcess(launch: JobLaunch): JobProcess {
  try {
    return startOrThrow(launch)
  } catch (error) {
    const words = () => String(error)
    return { child: null, folders: null, words, hasEnded: () => true, ended: Promise.resolve() }
  }
}

function startOrThrow(launch: JobLaunch): JobProcess {
  const folders = launch.sandbox === null ? null : makeJobFolders(launch.sandbox)
  const child = launchJobProcess(launch, folders?.path ?? '/')
  let words = ''
  let hasEnded = false
  // It may have ended.
  child.stdin.on('error', () => {})
  child.stderr.on('data', (bytes: Buffer) => {
    words = (words + bytes.toString()).slice(-MAX_WORDS)
  })
  const ended = once(child, 'exit')
    .catch((error: unknown) => {
      words += String(error)
    })
    .then(() => {
      hasEnded = true
    })
  child.on('error', () => {})
  return { child, folders, words: () => words.trim(), hasEnded: () => hasEnded, ended }
}

/** For a process that gets no job. */
export async function endJobProcess({ child, folders, ended }: JobProcess): Promise<void> {
  child?.stdin.end()
  child?.stdout.resume()
  await ended
  await folders?.close()
}

export async function runInProcess(
  started: JobProcess,
  { options }: JobLaunch,
  host: JobHost,
  job: Job,
): Promise<JobReport | null> {
  const { child, folders, words, ended } = started
  const { settings, session, jobStatusIntervalSeconds, abandoned } = host
  const own = openSession(session.endpoint, job.token ?? '', session.headers)
  const send = (message: ToJobProcess) => void (child?.stdin.writable && child.stdin.write(lineOf(message)))
  const giveUp = () => send({ kind: 'let-go' })
  const answered = new Promise<FromJobProcess>((resolve) => {
    if (child !== null) readAnswer(child.stdout, resolve)
  })
  const reason = takeWorkspace(started, job)
  if (reason !== null) child?.stdin.end()
  send({ kind: 'run', work: { options, session: own, job, jobStatusIntervalSeconds } })
  if (abandoned.aborted) giveUp()
  else abandoned.addEventListener('abort', giveUp, { once: true })
  try {
    const answer = await Promise.race([answered, ended.then(() => closed(child)).then(() => null)])
    await ended
    if (answer !== null) return answer.report
    settings.log.error(
      { job: job.id, reason: reason ?? words() },
      "The job's process ended without a report.",
    )
    // The job killed the process, or it never started. Report it, because the server would wait for a long time.
    const end = { exit_status: '-1', signal_reason: 'process_run_error' } as const
    return await report(host, job, { session: own, clock: settings.clock }, end, 0)
  } finally {
    abandoned.removeEventListener('abort', giveUp)
    // The next job does not wait for deletions.
    void folders?.close()
  }
}

/** Its last words may arrive after its end. Without a sandbox, a process that hides may hold its output open. */
async function closed(child: LaunchedProcess | null): Promise<void> {
  if (child === null || child.stdout.closed) return
  await Promise.race([once(child.stdout, 'close'), delay(LAST_WORDS_MS)])
}

/** Returns the reason why it cannot, such as a full disk. */
function takeWorkspace({ folders }: JobProcess, job: Job): string | null {
  try {
    folders?.takeWorkspace(workspaceName(job.env))
    return null
  } catch (error) {
    return String(error)
  }
}
