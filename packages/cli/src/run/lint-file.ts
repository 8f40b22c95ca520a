import type { EnvLookup } from '@millrace/engine/expansion.ts'
import { DEFAULT_MAX_BYTES, readPipelines } from '@millrace/engine/steps/document.ts'
import { countJobs } from '@millrace/engine/steps/job-count.ts'
import { print, type Output } from '../command.ts'
import { count, countSteps } from './counting.ts'
import type { Pair } from '../pairs.ts'
import { readPipelineFile } from './pipeline-file.ts'
import { formatProblems, refuseProblems } from './problems.ts'

export interface LintOptions extends Output {
  stored?: true
  env: Pair[]
  useEnv?: true
}

const NOT_FILLED_IN = 'Variables are read as they are written; --env and --use-env fill them in.\n'

export async function lintFile(name: string | undefined, options: LintOptions): Promise<void> {
  const file = await readPipelineFile({ name, cwd: process.cwd(), input: process.stdin })
  const lookup = lookupOf(options)
  const read = readPipelines(file.text, {
    origin: options.stored ? 'stored' : 'upload',
    maxBytes: DEFAULT_MAX_BYTES,
    ...(lookup === null ? {} : { interpolateWith: lookup }),
  })
  if (!read.ok) {
    if (lookup === null && file.text.includes('$') && !options.json) console.error(NOT_FILLED_IN)
    throw refuseProblems(options, file, read.problems)
  }
  const { documents, warnings } = read
  const all = documents.flatMap((document) => document.steps)
  const [steps, jobs] = [countSteps(all), countJobs(all)]
  if (warnings.length > 0 && !options.json) console.error(`${formatProblems(file, warnings)}\n`)
  const counts = [count(steps, 'step'), count(jobs, 'job'), count(warnings.length, 'warning')]
  print(
    options,
    { ok: true, problems: [], warnings, steps, jobs },
    `${file.name} is right: ${counts.join(', ')}.`,
  )
}

/** null: variables are not interpolated. */
function lookupOf({ env, useEnv }: LintOptions): EnvLookup | null {
  if (env.length === 0 && !useEnv) return null
  const variables = new Map<string, string | undefined>([
    ...(useEnv ? Object.entries(process.env) : []),
    ...env,
  ])
  return (name) => variables.get(name)
}
