// Hooks of the agent's owner, the repository and plugins around the phases of a job. A shell hook is sourced, and its
// changes of variables and working directory apply to later phases. Any other program is executed.

import { open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SHELL_PATH } from '../shell.ts'
import { JobFailure } from './failure.ts'
import { fileAt } from './file-at.ts'
import { runProcess, statusOf } from './run.ts'
import type { JobRun } from './run.ts'

type HookName =
  | 'environment'
  | 'pre-checkout'
  | 'checkout'
  | 'post-checkout'
  | 'pre-command'
  | 'command'
  | 'post-command'
  | 'pre-artifact'
  | 'post-artifact'
  | 'pre-exit'

type HookScope = 'agent' | 'repository' | 'plugin'

interface Hook {
  name: HookName
  /** Its name in the log. */
  title: string
  path: string
  env: Record<string, string>
}

/** Runs all existing hooks in the order of the scopes. The first failure ends the phase. */
export async function runHooks(run: JobRun, name: HookName, scopes: readonly HookScope[]): Promise<void> {
  for (const scope of scopes) {
    for (const hook of findHooks(run, name, scope)) await mustRunHook(run, hook)
  }
}

/** Runs the first existing hook, which replaces the agent's own action. Null if there is none. */
export async function runReplacement(
  run: JobRun,
  name: 'checkout' | 'command',
  scopes: readonly HookScope[],
): Promise<number | null> {
  for (const scope of scopes) {
    const [hook] = findHooks(run, name, scope)
    if (hook) return await runHook(run, hook)
  }
  return null
}

async function mustRunHook(run: JobRun, hook: Hook): Promise<void> {
  const status = await runHook(run, hook)
  if (status !== 0) throw new JobFailure(`the ${hook.title} hook ended with status ${status}`, status)
}

async function runHook(run: JobRun, hook: Hook): Promise<number> {
  run.log.say(`~~~ Running ${hook.title} hook`)
  const status = (await isShellScript(hook.path))
    ? await source(run, hook)
    : statusOf(await runProcess(run, [hook.path], hook.env))
  run.env['BUILDKITE_LAST_HOOK_EXIT_STATUS'] = String(status)
  return status
}

function findHooks(run: JobRun, name: HookName, scope: HookScope): Hook[] {
  const candidates: Hook[] =
    scope === 'plugin'
      ? run.plugins.map((plugin) => ({
          name,
          title: `plugin ${plugin.name} ${name}`,
          path: join(plugin.path, 'hooks', name),
          env: plugin.env,
        }))
      : [{ name, title: `${scope} ${name}`, path: join(hooksFolder(run, scope), name), env: {} }]
  const found = candidates.filter(({ path }) => fileAt(path) !== null)
  if (found.length > 0 && scope === 'repository' && !run.settings.repositoryHooks) {
    throw new JobFailure(`this agent does not run the ${name} hook of a repository`)
  }
  return found
}

function hooksFolder({ settings, checkoutPath }: JobRun, scope: 'agent' | 'repository'): string {
  // Without a hooks folder there are no hooks; this path never exists.
  if (scope === 'agent') return settings.hooksPath ?? '/dev/null/hooks'
  return join(checkoutPath, '.buildkite', 'hooks')
}

const WRAPPER = String.raw`
MILLRACE_HOOK=$1 MILLRACE_BEFORE=$2 MILLRACE_AFTER=$3
set --
{ pwd; env -0; } >"$MILLRACE_BEFORE"
trap 'MILLRACE_STATUS=$?; { pwd; env -0; } >"$MILLRACE_AFTER"; exit "$MILLRACE_STATUS"' EXIT
. "$MILLRACE_HOOK"
`

async function source(run: JobRun, hook: Hook): Promise<number> {
  const folder = run.makeFolder()
  const before = join(folder, 'before')
  const after = join(folder, 'after')
  const end = await runProcess(run, [SHELL_PATH, '-c', WRAPPER, 'hook', hook.path, before, after], {
    ...hook.env,
    BUILDKITE_HOOK_PATH: hook.path,
  })
  const [was, is] = await Promise.all([before, after].map((path) => readFile(path, 'utf8').catch(() => null)))
  await Promise.all([before, after].map((path) => rm(path, { force: true })))
  // A killed hook has not written its environment.
  if (typeof was === 'string' && typeof is === 'string') carryOn(run, hook, was, is)
  return statusOf(end)
}

/** Variables that only the shell changes. */
const OF_THE_SHELL = new Set(['_', 'SHLVL', 'PWD', 'OLDPWD', 'BUILDKITE_HOOK_PATH'])

function carryOn(run: JobRun, hook: Hook, was: string, is: string): void {
  const { folder: startedIn, env: before } = parseSnapshot(was)
  const { folder: endedIn, env: after } = parseSnapshot(is)
  // A hook that changed no directory may have asked for another with `workdir set`.
  if (endedIn !== '' && endedIn !== startedIn) run.cwd = endedIn
  const changed: string[] = []
  for (const [name, value] of after) {
    if (OF_THE_SHELL.has(name) || before.get(name) === value) continue
    run.env[name] = value
    changed.push(name)
  }
  for (const name of before.keys()) {
    if (OF_THE_SHELL.has(name) || after.has(name) || Object.hasOwn(hook.env, name)) continue
    Reflect.deleteProperty(run.env, name)
    changed.push(name)
  }
  run.log.hideVariables(run.env)
  if (changed.length > 0) run.log.say(`# The hook changed ${changed.join(', ')}`)
}

function parseSnapshot(text: string): { folder: string; env: Map<string, string> } {
  const lineEnd = text.indexOf('\n')
  return { folder: text.slice(0, lineEnd), env: parseEnv(text.slice(lineEnd + 1)) }
}

function parseEnv(text: string): Map<string, string> {
  const entries = text.split('\0').flatMap((entry): [string, string][] => {
    const at = entry.indexOf('=')
    return at > 0 ? [[entry.slice(0, at), entry.slice(at + 1)]] : []
  })
  return new Map(entries)
}

/** True unless it is a binary or a script with another interpreter. */
async function isShellScript(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(128), 0, 128, 0)
    const head = buffer.subarray(0, bytesRead).toString('latin1')
    if (head.startsWith('#!')) return /^#!.*\b(ba|da|k|z)?sh\b/.test(head.split('\n', 1)[0] ?? '')
    return !head.includes('\0')
  } finally {
    await file.close()
  }
}
