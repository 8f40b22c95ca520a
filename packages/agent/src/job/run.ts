// What the phases of one job share.

import type { Job } from '@millrace/protocol/jobs.ts'
import type { Api } from '../http/call.ts'
import type { JobLog } from '../log/job-log.ts'
import type { Settings } from '../settings.ts'
import type { Cancel } from './cancel.ts'
import { JobFailure } from './failure.ts'
import type { OutputPipe } from './output.ts'
import type { ProcessEnd, Processes } from './processes.ts'

export interface JobRun {
  job: Job
  /** With the job's own token; gives up when the grace of a cancel is over. */
  api: Api
  settings: Settings
  log: JobLog
  output: OutputPipe
  processes: Processes
  cancel: Cancel
  /** Changed by hooks, and by commands inside the job. */
  env: Record<string, string>
  /** Where the next process starts. */
  cwd: string
  checkoutPath: string
  /** Of this job alone; removed at its end. */
  folder: string
  plugins: LoadedPlugin[]
}

export interface LoadedPlugin {
  name: string
  path: string
  /** What its hooks see beside the job's environment. */
  env: Record<string, string>
}

export type Command = readonly [string, ...string[]]

/** Its output goes to the log, all of it before this returns. */
export async function runProcess(
  run: JobRun,
  command: Command,
  extraEnv: Record<string, string> = {},
): Promise<ProcessEnd> {
  refuseWhenOver(run)
  const end = await run.processes
    .run(command, { env: { ...run.env, ...extraEnv }, cwd: run.cwd, output: run.output.fd })
    .catch(cannotStart(command))
  await run.output.settle()
  return end
}

/** Shows the command, and fails the job unless it ends well. */
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

/** A process that died of a signal of its own leaves no status; shells call that 255. */
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
