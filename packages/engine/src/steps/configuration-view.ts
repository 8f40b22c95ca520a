// The steps of a stored pipeline as the REST API shows them. It has no groups: their steps take their place.

import type { CommandStep, LeafStep, PipelineDocument, TriggerStep } from './types.ts'

type ConfigurationStep = ScriptView | WaiterView | ManualView | TriggerView

interface ScriptView {
  type: 'script'
  name: string | null
  command: string | null
  artifact_paths: string | null
  branch_configuration: string | null
  env: Readonly<Record<string, string>>
  timeout_in_minutes: number | null
  agent_query_rules: readonly string[]
  concurrency: number | null
  parallelism: number | null
  plugins: ReadonlyArray<Readonly<Record<string, unknown>>>
}

interface WaiterView {
  type: 'waiter'
}

interface ManualView {
  type: 'manual'
  label: string | null
}

interface TriggerView {
  type: 'trigger'
  label: string | null
  pipeline: string
  build: {
    message: string | null
    branch: string | null
    commit: string | null
    env: Readonly<Record<string, string>>
  }
  async: boolean
  branch_configuration: string | null
  concurrency: null
  parallelism: number | null
}

export function viewConfiguration(document: PipelineDocument): ConfigurationStep[] {
  return document.steps.flatMap((step) =>
    step.kind === 'group' ? step.steps.map(viewStep) : [viewStep(step)],
  )
}

function viewStep(step: LeafStep): ConfigurationStep {
  switch (step.kind) {
    case 'command':
      return viewScript(step)
    case 'wait':
      return { type: 'waiter' }
    case 'block':
    case 'input':
      return { type: 'manual', label: step.label }
    case 'trigger':
      return viewTrigger(step)
  }
}

function viewScript(step: CommandStep): ScriptView {
  return {
    type: 'script',
    name: step.label,
    command: step.command,
    artifact_paths: step.artifactPaths,
    branch_configuration: step.branches,
    env: step.env,
    timeout_in_minutes: step.timeoutMinutes,
    agent_query_rules: step.agents,
    concurrency: step.concurrency?.limit ?? null,
    parallelism: step.parallelism,
    plugins: step.plugins.map(({ source, config }) => ({ [source]: config })),
  }
}

function viewTrigger(step: TriggerStep): TriggerView {
  const { message, branch, commit, env } = step.build
  return {
    type: 'trigger',
    label: step.label,
    pipeline: step.pipeline,
    build: { message, branch, commit, env },
    async: step.async,
    branch_configuration: step.branches,
    concurrency: null,
    parallelism: step.parallelism,
  }
}
