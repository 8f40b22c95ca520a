// The limits that an agent's owner sets for jobs. Checked before any part of the job runs.

import { open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileAt } from './file-at.ts'
import { readPlugins } from './plugins.ts'
import type { ProcessEnd } from './processes.ts'
import { statusOf } from './run.ts'
import type { JobRun } from './run.ts'

/** The reason for the job's log; null if the job may run. */
export async function refusalOf(run: JobRun): Promise<string | null> {
  return refusalByImage(run) ?? refusalByLists(run) ?? (await refusalByHook(run))
}

/**
 * A step with an image must not run outside a container. An owner's `command` hook can start the container itself; it
 * finds the name in `BUILDKITE_IMAGE`.
 */
function refusalByImage({ settings, job, env }: JobRun): string | null {
  // It is only in the job if nothing signs it.
  const image = env['BUILDKITE_IMAGE'] ?? job.env['BUILDKITE_IMAGE'] ?? ''
  if (image === '' || settings.hasJobImage) return null
  if (settings.hooksPath !== null && fileAt(join(settings.hooksPath, 'command')) !== null) {
    if (env['BUILDKITE_IMAGE'] === image) return null
    return `No signature covers the image ${image} of the step. Put BUILDKITE_IMAGE into the step's env instead, which is signed.`
  }
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
 * The `pre-bootstrap` hook decides by the job's environment. It gets that environment in files, because variables of the
 * job in its own environment could change its behaviour.
 */
async function refusalByHook(run: JobRun): Promise<string | null> {
  const { settings, job } = run
  const hook = settings.hooksPath === null ? null : join(settings.hooksPath, 'pre-bootstrap')
  if (hook === null || fileAt(hook) === null) return null
  const folder = run.makeFolder()
  const asLines = Object.entries(job.env).map(([name, value]) => `${name}=${JSON.stringify(value)}\n`)
  const [lines, json, said] = [join(folder, 'env'), join(folder, 'env.json'), join(folder, 'said')]
  await writeFile(lines, asLines.join(''), { mode: 0o600 })
  await writeFile(json, JSON.stringify(job.env), { mode: 0o600 })
  const env = { ...settings.environment, BUILDKITE_ENV_FILE: lines, BUILDKITE_ENV_JSON_FILE: json }
  const status = await runInto(said, (output) => run.processes.run([hook], { env, cwd: folder, output }))
  // Its output is for the owner, not for the job's author.
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
