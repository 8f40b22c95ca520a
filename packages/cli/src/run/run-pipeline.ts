// Runs one pipeline on this machine, with the engine, processes and a private folder.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startJobReaper } from '@millrace/agent/job-reaper.ts'
import type { Problem } from '@millrace/engine/problem.ts'
import { answerAgent } from './agent-commands/agent-commands.ts'
import { openAgentSocket } from './agent-commands/agent-socket.ts'
import { JobRunner } from './job-runner.ts'
import { LocalBuild, type BuildSettings } from './local-build.ts'
import type { PipelineFile } from './pipeline-file.ts'
import type { RunReport } from './report.ts'
import { Screen } from './screen.ts'
import type { Terminal } from './terminal.ts'

export interface RunSettings extends BuildSettings {
  ignorePlugins: boolean
  /** The time between terminating and killing processes. */
  graceMs: number
}

export type RunResult = { ok: true; report: RunReport } | { ok: false; problems: Problem[] }

export async function runPipeline(
  file: PipelineFile,
  settings: RunSettings,
  terminal: Terminal,
): Promise<RunResult> {
  const privateFolder = await mkdtemp(join(tmpdir(), 'millrace-run-'))
  const reaper = startJobReaper()
  reaper.watch('folder', privateFolder)
  const screen = new Screen(terminal)
  const { outerEnv, ignorePlugins, graceMs, checkout } = settings
  const runner = new JobRunner({
    root: checkout.root,
    privateFolder,
    reaper,
    screen,
    outerEnv,
    ignorePlugins,
    graceMs,
  })
  const build = new LocalBuild(settings, runner, screen, terminal)
  const ignoreInterrupts = terminal.onInterrupt(() => build.interrupt())
  try {
    const agentSocket = await openAgentSocket(privateFolder, answerAgent(build))
    try {
      const begun = await build.begin(file)
      if (!begun.ok) return begun
      await build.finished
      for (const key of build.unusedFields()) screen.say(`No step has the field ${key}.`)
      return { ok: true, report: build.report() }
    } finally {
      agentSocket.close()
    }
  } finally {
    await reaper.close()
    await rm(privateFolder, { recursive: true, force: true })
    ignoreInterrupts()
  }
}
