// The steps of a pipeline as text: whether it can be read, and how the API shows it.
import { describeProblem } from '@millrace/engine/problem.ts'
import { viewConfiguration } from '@millrace/engine/steps/configuration-view.ts'
import { DEFAULT_MAX_BYTES, readPipeline } from '@millrace/engine/steps/document.ts'
import type { FieldError } from '../../lib/errors.ts'
import type { ConfigurationStep, VisualStep } from './schema.ts'

/** Variables stay as they are written: their values are known only when there is a build. */
const read = (text: string) => readPipeline(text, { origin: 'stored', maxBytes: DEFAULT_MAX_BYTES })

export function problemsOf(configuration: string): string[] {
  const result = read(configuration)
  return result.ok ? [] : result.problems.map(describeProblem)
}

export const checkConfiguration = (configuration: string): FieldError[] =>
  problemsOf(configuration).map((code) => ({ field: 'configuration', code }))

// Every list of builds shows the steps of its pipelines, and reading text costs far more than comparing it.
const views = new Map<string, ConfigurationStep[]>()
const mostCharacters = 16 * 1024 * 1024
let keptCharacters = 0

/** Shared by all who ask, so nobody may change it. */
export function viewSteps(configuration: string): ConfigurationStep[] {
  const known = views.get(configuration)
  if (known !== undefined) return known
  const result = read(configuration)
  const view = result.ok ? (viewConfiguration(result.document) as ConfigurationStep[]) : []
  keptCharacters += configuration.length
  if (keptCharacters > mostCharacters) {
    views.clear()
    keptCharacters = configuration.length
  }
  views.set(configuration, view)
  return view
}

const start = '{\n  "steps": ['

/** A list of steps is kept as the document it stands for. JSON is YAML. */
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
