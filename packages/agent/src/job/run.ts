// The shared state of the phases of one job.

import type { Job } from '@millrace/protocol/jobs.ts'
import type { JobCache } from '../cache/restore.ts'
import type { Api } from '../http/call.ts'
import type { JobLog } from '../log/job-log.ts'
import type { Settings } from '../settings.ts'
import type { Cancel } from './cancel.ts'
import { JobFailure } from './failure.ts'
import type { OutputPipe } from './output.ts'
import type { ProcessEnd, Processes } from './processes.ts'

export interface JobRun {
  job: Job
  /** Uses the job's token. Aborts when the grace period of a cancel ends. */
  api: Api
  settings: Settings
  log: JobLog
  output: OutputPipe
  processes: Processes
  cancel: Cancel
  /** Hooks and in-job commands change it. */
  env: Record<string, string>
  /** The working directory of the next process. */
  cwd: string
  checkoutPath: string
  /** A folder of this job, deleted at its end. The first call makes it. */
  makeFolder(): string
  plugins: LoadedPlugin[]
  /** null: the step has no cache, or it is in a volume. */
  cache: JobCache | null
}

interface LoadedPlugin {
  name: string
  path: string
  /** Additional variables for its hooks. */
  env: Record<string, string>
}

export type Command = readonly [string, ...string[]]

/** Returns when all output is in the log. */
export async function runProcess(
  run: JobRun,
  command: Command,
  extraEnv: Record<string, string> = {},
): Promise<ProcessEnd> {
  refuseWhenOver(run)
  const end = await run.processes
    .run(command, { env: { ...run.env, ...extraEnv }, cwd: run.cwd, output: run.output.fd })
    .catch(cannotStart(command))
  await run.output.drain()
  return end
}

/** Logs the command, and fails the job if it fails. */
export async function mustRun(
  run: JobRun,
  command: Command,
  extraEnv: Record<string, string> = {},
): Promise<void> {
  run.log.say(`\x1b[90m$\x1b[0m ${command.map(quoteForReading).join(' ')}`)
  const end = await runProcess(run, command, extraEnv)
  if (end.exitStatus !== 0) throw new JobFailure(`${command.slice(0, 2).join(' ')} failed`, statusOf(end))
}

/** Its standard output, trimmed; null when it fails. */
export async function readProcess(
  run: JobRun,
  command: Command,
  extraEnv: Record<string, string> = {},
): Promise<string | null> {
  refuseWhenOver(run)
  const options = { env: { ...run.env, ...extraEnv }, cwd: run.cwd, output: run.output.fd }
  const { exitStatus, stdout } = await run.processes.read(command, options).catch(cannotStart(command))
  return exitStatus === 0 ? stdout.trim() : null
}

/** A process that a signal ended has no exit status; report 255. */
export function statusOf(end: ProcessEnd): number {
  return end.exitStatus ?? 255
}

export function isTrue(value: string | undefined): boolean {
  return value === 'true' || value === '1'
}

function refuseWhenOver({ cancel, settings }: JobRun): void {
  if (cancel.over.aborted || settings.processLimit?.isExceeded()) throw new JobFailure('the job is over', 255)
}

function cannotStart(command: Command) {
  return (error: unknown): never => {
    throw new JobFailure(
      `cannot run ${command[0]}: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

function quoteForReading(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
