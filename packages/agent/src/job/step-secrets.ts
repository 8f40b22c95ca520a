import { readSecret } from '../api/secrets.ts'
import { JobFailure } from './failure.ts'
import type { JobRun } from './run.ts'

/** Reserved variables that a step may still set. */
const OVERRIDABLE = new Set(['BUILDKITE_API_TOKEN', 'BUILDKITE_ANALYTICS_TOKEN'])

/** Fetches the step's secrets. The log redacts them from now on. */
export async function loadStepSecrets(run: JobRun): Promise<void> {
  const wanted = run.job.step?.secrets ?? []
  if (wanted.length === 0) return
  run.log.say('~~~ Fetching secrets')
  const fetched = await Promise.all(
    wanted.map(async ({ key, environment_variable: variable = key }) => {
      if (variable.startsWith('BUILDKITE') && !OVERRIDABLE.has(variable)) {
        throw new JobFailure(`the secret ${key} cannot be put into ${variable}`, -1, 'process_run_error')
      }
      try {
        const { value } = await readSecret(run.api, run.job.id, key)
        return { variable, value }
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        throw new JobFailure(`the secret ${key} could not be fetched: ${why}`, -1, 'process_run_error')
      }
    }),
  )
  run.log.hide(fetched.map(({ value }) => value))
  for (const { variable, value } of fetched) run.env[variable] = value
}
