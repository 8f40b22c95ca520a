// The phases of a job. A failing phase skips the later ones; the pre-exit hooks always run.

import { runArtifactPhase } from './artifacts.ts'
import { saveCache } from './cache.ts'
import { runCheckoutPhase } from './checkout.ts'
import { runCommandPhase } from './command.ts'
import { JobFailure } from './failure.ts'
import { runHooks } from './hooks.ts'
import { loadPlugins, loadRepositoryPlugins } from './plugins.ts'
import type { JobRun } from './run.ts'
import { loadStepSecrets } from './step-secrets.ts'
import { sendJobTestResults } from './test-results.ts'

export interface PhasesEnd {
  exitStatus: number
  signalReason: JobFailure['signalReason']
}

export async function runPhases(run: JobRun): Promise<PhasesEnd> {
  let end = await guarded(run, () => runUntilCommand(run))
  const exit = await guarded(run, async () => {
    await runHooks(run, 'pre-exit', ['agent', 'repository', 'plugin'])
    return 0
  })
  if (end.exitStatus === 0) end = exit
  return end
}

async function runUntilCommand(run: JobRun): Promise<number> {
  const steps = [
    () => loadStepSecrets(run),
    () => runHooks(run, 'environment', ['agent']),
    () => loadPlugins(run),
    () => runCheckoutPhase(run),
    () => loadRepositoryPlugins(run),
  ]
  for (const step of steps) {
    if (run.cancel.requested !== null) return 255
    await step()
  }
  if (run.cancel.requested !== null) return 255
  const command = await guarded(run, () => runCommandPhase(run))
  await sendJobTestResults(run)
  const artifacts = await guarded(run, () => runArtifactPhase(run))
  if (command.exitStatus !== 0) return command.exitStatus
  if (artifacts.exitStatus === 0) await saveCache(run)
  return artifacts.exitStatus
}

async function guarded(run: JobRun, phase: () => Promise<number>): Promise<PhasesEnd> {
  try {
    return { exitStatus: await phase(), signalReason: null }
  } catch (error) {
    if (run.cancel.over.aborted) return { exitStatus: 255, signalReason: null }
    const message = error instanceof Error ? error.message : String(error)
    run.log.say(`^^^ +++\n\x1b[31mError: ${message}\x1b[0m`)
    if (error instanceof JobFailure) return { exitStatus: error.exitStatus, signalReason: error.signalReason }
    return { exitStatus: 1, signalReason: null }
  }
}
