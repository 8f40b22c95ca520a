// What the owner of an agent will not have run on it. Decided before anything of the job runs.

import { open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileAt } from './file-at.ts'
import { readPlugins } from './plugins.ts'
import type { ProcessEnd } from './processes.ts'
import { statusOf } from './run.ts'
import type { JobRun } from './run.ts'

/** Why the job is refused, as a sentence for its log; null when it may run. */
export async function refusalOf(run: JobRun): Promise<string | null> {
  return refusalByImage(run) ?? refusalByLists(run) ?? (await refusalByHook(run))
}

/**
 * To run on the bare machine what was written for a container would be worse than not to run it. An owner who has a
 * `command` hook runs commands in a way of their own, and `BUILDKITE_IMAGE` is there for it.
 */
function refusalByImage({ settings, env }: JobRun): string | null {
  const image = env['BUILDKITE_IMAGE'] ?? ''
  if (image === '' || settings.hasJobImage) return null
  if (settings.hooksPath !== null && fileAt(join(settings.hooksPath, 'command')) !== null) return null
  return `The step asks for the image ${image}, and this agent runs jobs without containers. Send the step to a hosted queue, or remove its image.`
}

/** The server's own variables are part of every job. */
const ALWAYS_ALLOWED = /^(BUILDKITE_.*|BUILDKITE|CI|CI_.*)$/

function refusalByLists({ settings, job, env }: JobRun): string | null {
  const { allowedRepositories, allowedPlugins, allowedVariables, refuseForks } = settings
  if (refuseForks !== null && job.from_fork === true) return refuseForks
  const repository = env['BUILDKITE_REPO'] ?? ''
  if (!fits(repository, allowedRepositories)) {
    return `This agent takes no jobs of the repository ${repository}.`
  }
  const sources = allowedPlugins === null ? [] : readPlugins(env['BUILDKITE_PLUGINS'] ?? '')
  const plugin = sources.find(({ source }) => !fits(source, allowedPlugins))
  if (plugin !== undefined) return `This agent does not run the plugin ${plugin.source}.`
  const variable = Object.keys(job.env).find(
    (name) => !ALWAYS_ALLOWED.test(name) && !fits(name, allowedVariables),
  )
  return variable === undefined ? null : `This agent does not let jobs set the variable ${variable}.`
}

const fits = (text: string, allowed: readonly RegExp[] | null) =>
  allowed === null || allowed.some((pattern) => pattern.test(text))

/**
 * The `pre-bootstrap` hook of the agent's owner, who decides by what the job is going to have in its environment. That
 * is handed over in files: a hook that had it in its own environment could be led astray by it.
 */
async function refusalByHook(run: JobRun): Promise<string | null> {
  const { settings, job, folder } = run
  const hook = settings.hooksPath === null ? null : join(settings.hooksPath, 'pre-bootstrap')
  if (hook === null || fileAt(hook) === null) return null
  const asLines = Object.entries(job.env).map(([name, value]) => `${name}=${JSON.stringify(value)}\n`)
  const [lines, json, said] = [join(folder, 'env'), join(folder, 'env.json'), join(folder, 'said')]
  await writeFile(lines, asLines.join(''), { mode: 0o600 })
  await writeFile(json, JSON.stringify(job.env), { mode: 0o600 })
  const env = { ...settings.environment, BUILDKITE_ENV_FILE: lines, BUILDKITE_ENV_JSON_FILE: json }
  const status = await runInto(said, (output) => run.processes.run([hook], { env, cwd: folder, output }))
  // What it says is for the owner, not for the job's author.
  settings.log.info({ job: job.id, output: await readFile(said, 'utf8') }, 'The pre-bootstrap hook ended.')
  return status === 0 ? null : `This agent's pre-bootstrap hook refused the job with status ${status}.`
}

async function runInto(path: string, run: (output: number) => Promise<ProcessEnd>): Promise<number> {
  const file = await open(path, 'w', 0o600)
  try {
    return statusOf(await run(file.fd))
  } finally {
    await file.close()
  }
}
