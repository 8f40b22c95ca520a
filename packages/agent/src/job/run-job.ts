// Runs one job: reports the start, runs the phases, reports the end.

import { accessSync, constants, mkdirSync, statSync } from 'node:fs'
import type { FinishRequest, Job } from '@millrace/protocol/jobs.ts'
import * as jobs from '../api/jobs.ts'
import type { Api } from '../http/call.ts'
import { isPassing } from '../http/retry.ts'
import { openSession } from '../http/session.ts'
import type { Session } from '../http/session.ts'
import type { JobReaper } from '../job-reaper.ts'
import type { ChunksEnd } from '../log/chunks.ts'
import { openJobLog } from '../log/job-log.ts'
import type { JobLog } from '../log/job-log.ts'
import type { ProcessLimit } from '../process-limit.ts'
import type { Settings } from '../settings.ts'
import type { JobSocket } from '../sockets/job-socket.ts'
import { createCancel } from './cancel.ts'
import type { Cancel, CancelReason } from './cancel.ts'
import { checkoutFolder, prepareEnvironment } from './environment.ts'
import { openPipe } from './output.ts'
import { runPhases } from './phases.ts'
import type { PhasesEnd } from './phases.ts'
import { createProcesses, killByVariable } from './processes.ts'
import { refusalOf } from './refuse.ts'
import type { JobRun } from './run.ts'
import { checkSignature } from './signature.ts'
import type { SignatureVerdict } from './signature.ts'
import { describeNames } from './unsigned-variables.ts'
import { watchState } from './watch-state.ts'
import type { Workplace, Workplaces } from './workplaces.ts'

export interface JobHost {
  settings: Settings
  session: Session
  binPath: string
  reaper: JobReaper
  workplaces: Workplaces
  jobStatusIntervalSeconds: number
  /** Aborts when the agent must abandon the job. */
  abandoned: AbortSignal
}

/** This agent always sends an exit status. */
export interface JobFinish extends FinishRequest {
  exit_status: string
}

export interface JobReport {
  finish: JobFinish
  /** Whether the server received the report. */
  isHeard: boolean
}

/** Runs the jobs of one agent, one after another. It prepares what it can before the next job is known. */
export interface JobRunner {
  run(host: JobHost, job: Job): Promise<JobReport | null>
  /** Called if there will be no further job. */
  close(): Promise<void>
}

export function runHere(workplaces: Workplaces): JobRunner {
  let next = prepareWorkplace(workplaces)
  return {
    async run(host, job) {
      try {
        return await runJob(host, job, next)
      } finally {
        next = prepareWorkplace(workplaces)
      }
    },
    close: () =>
      next.then(
        ({ clear }) => clear(),
        () => {},
      ),
  }
}

function prepareWorkplace(workplaces: Workplaces): Promise<Workplace> {
  const workplace = workplaces.prepare()
  // `runJob` sees the failure. Until then it must not count as unhandled.
  workplace.catch(() => {})
  return workplace
}

/**
 * Always reports the end after the start, because the server waits for it. Returns the report; null if the server no
 * longer wants the job.
 */
export async function runJob(
  host: JobHost,
  job: Job,
  preparing: Promise<Workplace>,
): Promise<JobReport | null> {
  const { settings, session } = host
  const own = openSession(session.endpoint, job.token ?? session.token, session.headers)
  const api: Api = { session: own, clock: settings.clock }
  try {
    if (job.state !== 'running') await jobs.start(api, job.id)
  } catch (error) {
    settings.log.warn({ job: job.id, error: messageOf(error) }, 'The job cannot be started.')
    if (!isPassing(error)) return null
    // The server may have received the request although its response was lost.
    return await report(host, job, api, { exit_status: '-1', signal_reason: 'process_run_error' }, 0)
  }
  const log = openJobLog({
    api,
    jobId: job.id,
    maxChunkBytes: maxChunkBytesOf(job),
    intervalSeconds: job.chunks_interval_seconds ?? 1,
    keepsLast: job.takes_last_chunk ?? false,
    redactedVariables: settings.redactedVariables,
  })
  const end = await inPlace(host, job, preparing, api, log).catch((error: unknown): JobEnd => {
    settings.log.error({ job: job.id, error: messageOf(error) }, 'The job could not be carried out.')
    log.say(`Error: ${messageOf(error)}`)
    return { exit_status: '-1', signal_reason: 'process_run_error' }
  })
  const { lost, last } = await log.close()
  return await report(host, job, api, end, lost, last)
}

export async function report(
  { settings }: JobHost,
  job: Job,
  api: Api,
  end: JobEnd,
  lostChunks: number,
  last: ChunksEnd['last'] = null,
): Promise<JobReport> {
  const finish: JobFinish = {
    ...end,
    finished_at: new Date(settings.clock.now()).toISOString(),
    chunks_failed_count: lostChunks,
    ...(settings.disconnectAfterJob ? { ignore_agent_in_dispatches: true } : {}),
  }
  try {
    await jobs.finish(api, job.id, last === null ? finish : { ...finish, last_chunk: lastChunkOf(last) })
    return { finish, isHeard: true }
  } catch (error) {
    settings.log.error({ job: job.id, error: messageOf(error) }, 'The end of the job could not be reported.')
    return { finish, isHeard: false }
  }
}

const lastChunkOf = ({ chunk: { sequence, offset }, gzipped }: NonNullable<ChunksEnd['last']>) => ({
  sequence,
  offset,
  gzip: gzipped.toString('base64'),
})

async function inPlace(
  host: JobHost,
  job: Job,
  preparing: Promise<Workplace>,
  api: Api,
  log: JobLog,
): Promise<JobEnd> {
  const prepared = await preparing.catch(() => null)
  const isThere = prepared?.isThere() === true
  if (!isThere) await prepared?.clear()
  const workplace = isThere ? prepared : await host.workplaces.prepare()
  try {
    return await carryOut(host, job, workplace, api, log)
  } finally {
    await workplace.clear()
  }
}

const DEFAULT_CHUNK_BYTES = 102_400

function maxChunkBytesOf({
  chunks_max_size_bytes: most,
  large_chunks_max_size_bytes: large = most,
}: Job): number {
  return large > 0 ? large : DEFAULT_CHUNK_BYTES
}

type JobEnd = Pick<JobFinish, 'exit_status' | 'signal' | 'signal_reason'>

async function carryOut(
  host: JobHost,
  job: Job,
  workplace: Workplace,
  api: Api,
  log: JobLog,
): Promise<JobEnd> {
  const { settings, reaper } = host
  const verdict = await checkSignature({ job, settings, log })
  reaper.watch('job', job.id)
  reaper.watch('folder', workplace.root)
  const { run, ignored, unsigned, missing } = openRun(host, job, workplace, api, log, verdict)
  const { cancel, output } = run
  const done = new AbortController()
  const { processLimit } = settings
  follow(host.abandoned, done.signal, () => cancel.request('agent_stop'))
  if (processLimit !== null) follow(processLimit.exceeded, done.signal, cancel.endNow)
  const watching = watchState(api, job.id, host.jobStatusIntervalSeconds, cancel, done.signal)
  openJobSocket(run, workplace.socket)
  log.hideVariables(run.env)
  try {
    mkdirSync(settings.buildPath, { recursive: true })
    if (ignored.length > 0)
      log.say(`# Variables that only the agent may set were ignored: ${describeNames(ignored)}`)
    if (unsigned.length > 0)
      log.say(`# Variables that are not signed were left out: ${describeNames(unsigned)}`)
    const end = await begin(run, verdict, missing)
    if (processLimit?.isExceeded() && cancel.requested === null) return await endOver(run, processLimit)
    return describeEnd(end, cancel, settings)
  } catch (error) {
    log.say(`Error: ${messageOf(error)}`)
    return describeEnd({ exitStatus: -1, signalReason: 'process_run_error' }, cancel, settings)
  } finally {
    done.abort()
    await run.processes.clear()
    if (cancel.requested !== null) await killByVariable('BUILDKITE_JOB_ID', job.id)
    reaper.release('job', job.id)
    cancel.close()
    await output.drain()
    output.close()
    await watching
  }
}

function follow(signal: AbortSignal, until: AbortSignal, act: () => void): void {
  if (signal.aborted) act()
  else signal.addEventListener('abort', act, { signal: until })
}

function openRun(
  host: JobHost,
  job: Job,
  workplace: Workplace,
  api: Api,
  log: JobLog,
  { signed }: SignatureVerdict,
) {
  const { settings, binPath, reaper } = host
  const { clock, cancelSignal: signal, cancelGraceSeconds: graceSeconds } = settings
  const processes = createProcesses(clock, reaper)
  const output = openPipe(workplace.pipe, (bytes) => {
    log.write(bytes)
    if (log.isFull()) output.pause()
  })
  log.onDrained(output.resume)
  const { session } = api
  const prepared = prepareEnvironment({ settings, job, session, binPath, socket: workplace.socket, signed })
  const { env } = prepared
  const requested = (reason: CancelReason, isTimeout: boolean) => {
    log.say(
      `# ${reason === 'agent_stop' ? 'The agent stops' : isTimeout ? 'The time is over' : 'The job was canceled'}`,
    )
    env['BUILDKITE_JOB_CANCELLED'] = 'true'
    if (isTimeout) env['BUILDKITE_JOB_TIMED_OUT'] = 'true'
  }
  const cancel = createCancel({ processes, signal, graceSeconds, clock, requested })
  const checkoutPath = checkoutFolder(settings, env, job.from_fork === true)
  env['BUILDKITE_BUILD_CHECKOUT_PATH'] = checkoutPath
  const run: JobRun = {
    job,
    api: { ...api, signal: cancel.over },
    settings,
    log,
    output,
    processes,
    cancel,
    env,
    cwd: settings.buildPath,
    checkoutPath,
    makeFolder: workplace.makeFolder,
    plugins: [],
    cache: null,
  }
  return { run, ignored: prepared.ignored, unsigned: prepared.unsigned, missing: prepared.missing }
}

async function begin(
  run: JobRun,
  { mayRun }: SignatureVerdict,
  missing: readonly string[],
): Promise<PhasesEnd> {
  if (!mayRun) return { exitStatus: -1, signalReason: 'signature_rejected' }
  if (missing.length > 0) {
    run.log.say(`Missing ${missing.join(', ')}`)
    return { exitStatus: 1, signalReason: null }
  }
  const refusal = await refusalOf(run)
  if (refusal !== null) {
    run.log.say(`^^^ +++\n\x1b[31mRefused: ${refusal}\x1b[0m`)
    return { exitStatus: -1, signalReason: 'agent_refused' }
  }
  return await runPhases(run)
}

function openJobSocket(run: JobRun, socket: JobSocket): void {
  socket.open({
    env: () => ({ ...run.env }),
    setEnv(changes) {
      run.log.hideVariables(changes)
      Object.assign(run.env, changes)
    },
    unsetEnv(names) {
      for (const name of names) Reflect.deleteProperty(run.env, name)
    },
    setWorkdir(path) {
      const problem = problemOfFolder(path)
      if (problem === null) run.cwd = path
      return problem
    },
    hide: (value) => run.log.hide([value]),
    redact: (text) => run.log.redact(text),
  })
}

/** The agent sees what its jobs see: where jobs are in a sandbox, so is the process that runs them. */
function problemOfFolder(path: string): string | null {
  try {
    if (!statSync(path).isDirectory()) return `${path} is not a folder`
    accessSync(path, constants.X_OK)
    return null
  } catch (error) {
    const isDenied = error instanceof Error && 'code' in error && error.code === 'EACCES'
    return isDenied ? `the job may not enter ${path}` : `there is no folder ${path}`
  }
}

/** Reports a signal as if it had ended the command's own process. */
async function endOver({ log, output }: JobRun, { reason }: ProcessLimit): Promise<JobEnd> {
  await output.drain()
  log.say(`^^^ +++\n\x1b[31mError: ${reason}\x1b[0m`)
  return { exit_status: '255' }
}

function describeEnd({ exitStatus, signalReason }: PhasesEnd, cancel: Cancel, settings: Settings): JobEnd {
  if (cancel.requested !== null) {
    const signal = cancel.over.aborted ? 'SIGKILL' : settings.cancelSignal
    return { exit_status: '-1', signal, signal_reason: cancel.requested.reason }
  }
  return {
    exit_status: String(exitStatus),
    ...(signalReason === null ? {} : { signal_reason: signalReason }),
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
