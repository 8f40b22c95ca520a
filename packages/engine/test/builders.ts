import type {
  CommandStep,
  GroupStep,
  LeafStep,
  ManualStep,
  PipelineDocument,
  StepDefinition,
  TriggerStep,
  WaitStep,
} from '../src/steps/types.ts'

const COMMON = {
  key: null,
  label: null,
  dependsOn: null,
  allowDependencyFailure: false,
  condition: null,
}

export function aDocument(steps: readonly StepDefinition[]): PipelineDocument {
  return { env: [], notify: [], steps }
}

const COMMAND: CommandStep = {
  ...COMMON,
  kind: 'command',
  branches: null,
  command: '',
  agents: [],
  artifactPaths: null,
  cache: null,
  cancelOnBuildFailing: false,
  checkout: null,
  concurrency: null,
  env: {},
  image: null,
  matrix: null,
  notify: [],
  parallelism: null,
  plugins: [],
  priority: 0,
  retry: { automatic: [], manual: { allowed: true, permitOnPassed: false, reason: null } },
  secrets: {},
  skip: false,
  softFail: false,
  timeoutMinutes: null,
  signature: null,
}

export function aCommand(command: string, given: Partial<CommandStep> = {}): CommandStep {
  return { ...COMMAND, command, ...given }
}

export function aWait(given: Partial<WaitStep> = {}): WaitStep {
  return { ...COMMON, kind: 'wait', branches: null, continueOnFailure: false, ...given }
}

export function aManual(kind: 'block' | 'input', given: Partial<ManualStep> = {}): ManualStep {
  return {
    ...COMMON,
    kind,
    branches: null,
    prompt: null,
    submit: null,
    fields: [],
    blockedState: 'passed',
    allowedTeams: [],
    ...given,
  }
}

export function aTrigger(pipeline: string, given: Partial<TriggerStep> = {}): TriggerStep {
  return {
    ...COMMON,
    kind: 'trigger',
    branches: null,
    pipeline,
    build: { message: null, commit: null, branch: null, env: {}, metaData: {} },
    async: false,
    parallelism: null,
    skip: false,
    softFail: false,
    ...given,
  }
}

export function aGroup(steps: readonly LeafStep[], given: Partial<GroupStep> = {}): GroupStep {
  return { ...COMMON, kind: 'group', skip: false, notify: [], steps, ...given }
}
