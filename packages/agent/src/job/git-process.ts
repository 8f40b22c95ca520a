// Runs git for the agent. A job could leave a hook in .git for the next job, so the agent's git runs no hooks.

import { mustRun, readProcess, runProcess } from './run.ts'
import type { JobRun } from './run.ts'
import type { ProcessEnd } from './processes.ts'

/** Logs the command, and fails the job if git fails. */
export async function mustGit(run: JobRun, args: readonly string[]): Promise<void> {
  await mustRun(run, ['git', ...args], gitVariables(run))
}

export async function runGit(run: JobRun, args: readonly string[]): Promise<ProcessEnd> {
  return await runProcess(run, ['git', ...args], gitVariables(run))
}

/** Its standard output, trimmed; null when it fails. */
export async function readGit(run: JobRun, args: readonly string[]): Promise<string | null> {
  return await readProcess(run, ['git', ...args], gitVariables(run))
}

/** All its output, also when it fails. */
export async function readAllOfGit(run: JobRun, args: readonly string[]): Promise<string> {
  const script = 'git "$@" 2>&1 || true'
  return (await readProcess(run, ['sh', '-c', script, 'sh', ...args], gitVariables(run))) ?? ''
}

/** Adds to the configuration that the environment gives git. */
export function addGitConfig(env: Record<string, string>, key: string, value: string): void {
  const count = Number(env['GIT_CONFIG_COUNT'] ?? 0)
  env[`GIT_CONFIG_KEY_${count}`] = key
  env[`GIT_CONFIG_VALUE_${count}`] = value
  env['GIT_CONFIG_COUNT'] = String(count + 1)
}

/** Passed in the environment, so that git's processes in submodules inherit it. */
function gitVariables({ env }: JobRun): Record<string, string> {
  const variables: Record<string, string> = { GIT_TERMINAL_PROMPT: '0' }
  const count = env['GIT_CONFIG_COUNT']
  if (count !== undefined) variables['GIT_CONFIG_COUNT'] = count
  addGitConfig(variables, 'core.hooksPath', '/dev/null')
  addGitConfig(variables, 'core.fsmonitor', 'false')
  addGitConfig(variables, 'protocol.ext.allow', 'never')
  return variables
}
