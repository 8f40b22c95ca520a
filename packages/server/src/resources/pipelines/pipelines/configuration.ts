// Checks a pipeline's configuration, and converts it to and from the API's list of steps.
import { setImmediate } from 'node:timers/promises'
import { viewConfiguration } from '@millrace/engine/steps/configuration-view.ts'
import { readStored } from '../../../conductor/read-stored.ts'
import type { FieldError } from '../../../lib/errors.ts'
import type { Owner } from '../../../lib/holdings.ts'
import { problemsOf } from '../configuration-problems.ts'
import type { ConfigurationStep, VisualStep } from './schema.ts'

export const checkConfiguration = async (configuration: string, owner: Owner): Promise<FieldError[]> =>
  (await problemsOf(configuration, owner)).map((code) => ({ field: 'configuration', code }))

// Cache of parsed configurations. Every list of builds shows the steps of its pipelines.
const views = new Map<string, ConfigurationStep[]>()
const mostCharacters = 16 * 1024 * 1024
let cachedCharacters = 0

/** Variables are not interpolated. The result is cached and must not be modified. */
export async function viewSteps(configuration: string, owner: Owner): Promise<ConfigurationStep[]> {
  const known = views.get(configuration)
  if (known !== undefined) return known
  const result = await readStored({ text: configuration }, { kind: 'page', ...owner, until: null })
  const view = result.ok ? (viewConfiguration(result.document) as ConfigurationStep[]) : []
  cachedCharacters += configuration.length
  if (cachedCharacters > mostCharacters) {
    views.clear()
    cachedCharacters = configuration.length
  }
  views.set(configuration, view)
  // A list may have many configurations to parse, so let other requests run in between.
  await setImmediate()
  return view
}

const start = '{\n  "steps": ['

/** A list of steps is stored as a JSON document, which is also YAML. */
export const writeSteps = (steps: readonly VisualStep[]): string =>
  JSON.stringify({ steps: steps.map(toStep) }, null, 2)

/** Whether the steps were given as a list instead of text. */
export const isStepList = (configuration: string): boolean => configuration.startsWith(start)

function toStep(step: VisualStep): object {
  const { branch_configuration: branches } = step
  switch (step.type) {
    case 'script': {
      const { name, command, artifact_paths, env, timeout_in_minutes, agent_query_rules } = step
      return {
        ...unlessEmpty({ label: name }),
        command: command ?? '',
        ...unlessEmpty({
          artifact_paths,
          branches,
          env,
          timeout_in_minutes,
          agents: agent_query_rules,
          parallelism: step.parallelism,
          plugins: step.plugins,
        }),
      }
    }
    case 'waiter':
      return { type: 'wait' }
    case 'manual':
      return { type: 'block', ...unlessEmpty({ label: step.label }) }
    case 'trigger': {
      const { build } = step
      return {
        trigger: step.trigger_project_slug || step.pipeline || '',
        ...unlessEmpty({
          label: step.label,
          async: step.trigger_async ?? step.async,
          branches,
          build: unlessEmpty({
            message: build?.message,
            commit: step.trigger_commit || build?.commit,
            branch: step.trigger_branch || build?.branch,
            env: build?.env,
          }),
        }),
      }
    }
  }
}

const unlessEmpty = (attributes: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => !isEmpty(value)))

const isEmpty = (value: unknown) =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0)
