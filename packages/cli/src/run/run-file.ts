import { print, type Output } from '../command.ts'
import { findCheckout } from './checkout.ts'
import { withoutOuterBuild } from './facts.ts'
import type { Pair } from '../pairs.ts'
import { readPipelineFile } from './pipeline-file.ts'
import { refuseProblems } from './problems.ts'
import { Refused } from '../refused.ts'
import { describeReport } from './report.ts'
import { runPipeline, type RunSettings } from './run-pipeline.ts'
import { processTerminal, type Terminal } from './terminal.ts'

export interface RunOptions extends Output {
  jobs?: number
  env: Pair[]
  unblock?: true
  field: Pair[]
  ignorePlugins?: true
  skipTriggers?: true
}

const MINUTE_MS = 60_000
const GRACE_MS = 10_000
const LONGEST_TIMER_MS = 2 ** 31 - 1

export async function runFile(
  name: string | undefined,
  options: RunOptions & { jobs: number },
): Promise<void> {
  const cwd = process.cwd()
  const file = await readPipelineFile({ name, cwd, input: process.stdin })
  const checkout = await findCheckout(file.folder, cwd)
  const terminal = options.json ? silent(processTerminal()) : processTerminal()
  const result = await runPipeline(file, { ...settingsOf(options), checkout }, terminal)
  if (!result.ok) throw refuseProblems(options, file, result.problems)
  const { report } = result
  print(options, report, describeReport(report))
  if (report.state !== 'passed' && report.state !== 'not_run') throw new Refused()
}

function settingsOf(options: RunOptions & { jobs: number }): Omit<RunSettings, 'checkout'> {
  const fields = new Map<string, string[]>()
  for (const [key, value] of options.field) fields.set(key, [...(fields.get(key) ?? []), value])
  return {
    jobs: options.jobs,
    env: Object.fromEntries(options.env),
    outerEnv: withoutOuterBuild(process.env),
    fields,
    unblock: options.unblock === true,
    ignorePlugins: options.ignorePlugins === true,
    skipTriggers: options.skipTriggers === true,
    afterMinutes,
    graceMs: GRACE_MS,
  }
}

function afterMinutes(minutes: number, callback: () => void): () => void {
  const timer = setTimeout(callback, Math.min(minutes * MINUTE_MS, LONGEST_TIMER_MS))
  return () => clearTimeout(timer)
}

/** Prints nothing and asks nothing. */
function silent(terminal: Terminal): Terminal {
  return { ...terminal, write: () => {}, isInteractive: false }
}
