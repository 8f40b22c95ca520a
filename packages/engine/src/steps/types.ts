// The reader's result and the planner's input: a pipeline document with every alias resolved, every default of the
// document merged into its steps, and nothing yet decided about a particular build.

export interface PipelineDocument {
  /** In document order, already interpolated top to bottom. */
  env: ReadonlyArray<readonly [name: string, value: string]>
  notify: readonly NotifyEntry[]
  steps: readonly StepDefinition[]
}

export type StepDefinition = LeafStep | GroupStep
export type LeafStep = CommandStep | WaitStep | ManualStep | TriggerStep

export interface StepCommon {
  key: string | null
  label: string | null
  /** The label that commit statuses have, where a job of a fork has changed it. */
  statusLabel?: string | null
  /** null: the attribute is absent, which is not the same as an empty list. */
  dependsOn: readonly Dependency[] | null
  allowDependencyFailure: boolean
  /** Source text of the condition, already checked; null when absent or blank. */
  condition: string | null
}

interface Branched {
  /** Branch patterns separated by single spaces; null when absent. */
  branches: string | null
}

export interface Dependency {
  ref: string
  /** null: not said here, the step's allowDependencyFailure decides. */
  allowFailure: boolean | null
}

export interface CommandStep extends StepCommon, Branched {
  kind: 'command'
  command: string | null
  /** Merged per key with the document's `agents`; insertion order kept, `queue=big` style. */
  agents: readonly string[]
  artifactPaths: string | null
  cache: CacheVolume | null
  cancelOnBuildFailing: boolean
  checkout: Checkout | null
  concurrency: ConcurrencyLimit | null
  env: Readonly<Record<string, string>>
  image: string | null
  matrix: Matrix | null
  notify: readonly NotifyEntry[]
  parallelism: number | null
  plugins: readonly Plugin[]
  priority: number
  retry: RetryRules
  /** Variable name to secret key. */
  secrets: Readonly<Record<string, string>>
  skip: Skip
  softFail: SoftFail
  /** Patterns of files with test results. Absent where there are none, and in steps of older builds. */
  testResults?: readonly string[]
  timeoutMinutes: number | null
  signature: Signature | null
}

export interface WaitStep extends StepCommon, Branched {
  kind: 'wait'
  continueOnFailure: boolean
}

export interface ManualStep extends StepCommon, Branched {
  kind: 'block' | 'input'
  prompt: string | null
  submit: string | null
  fields: readonly Field[]
  blockedState: BlockedState
  allowedTeams: readonly string[]
}

export interface TriggerStep extends StepCommon, Branched {
  kind: 'trigger'
  pipeline: string
  build: {
    message: string | null
    commit: string | null
    branch: string | null
    env: Readonly<Record<string, string>>
    metaData: Readonly<Record<string, string>>
  }
  async: boolean
  parallelism: number | null
  skip: Skip
  softFail: SoftFail
}

export interface GroupStep extends StepCommon {
  kind: 'group'
  skip: Skip
  notify: readonly NotifyEntry[]
  steps: readonly LeafStep[]
}

export type BlockedState = 'passed' | 'failed' | 'running'

/** false: runs. A string is the reason shown; a bare `skip: true` reads as "skipped". */
export type Skip = false | string

/** true: any failure is soft. A list names exit statuses; '*' is any non-zero one. */
export type SoftFail = boolean | readonly (number | '*')[]

export interface ConcurrencyLimit {
  limit: number
  group: string
  method: 'ordered' | 'eager'
}

export interface RetryRules {
  automatic: readonly AutomaticRetry[]
  manual: { allowed: boolean; permitOnPassed: boolean; reason: string | null }
}

export interface AutomaticRetry {
  exitStatus: '*' | readonly number[]
  /** Upper case without `SIG`; 'NONE' is "ended by no signal"; '*' matches all. */
  signal: '*' | readonly string[]
  /** Lower case; 'none' is "for no reason"; '*' matches all. */
  signalReason: '*' | readonly string[]
  limit: number
}

export interface Matrix {
  /** One unnamed dimension has the name null. */
  dimensions: ReadonlyArray<{ name: string | null; values: readonly string[] }>
  adjustments: ReadonlyArray<{ with: readonly string[]; skip: Skip; softFail: SoftFail | null }>
}

export type Field =
  | {
      kind: 'text'
      key: string
      label: string
      hint: string | null
      required: boolean
      default: string | null
      format: string | null
    }
  | {
      kind: 'select'
      key: string
      label: string
      hint: string | null
      required: boolean
      multiple: boolean
      default: readonly string[]
      options: ReadonlyArray<{ label: string; value: string; hint: string | null; required: boolean | null }>
    }

export interface Plugin {
  /** As written, e.g. `docker#v5.0.0`. */
  source: string
  config: unknown
}

export interface CacheVolume {
  name: string | null
  paths: readonly string[]
  sizeGb: number
}

export interface Checkout {
  skip: boolean | null
  submodules: boolean | null
  lfs: boolean | null
  depth: number | null
  flags: Readonly<Partial<Record<'clone' | 'fetch' | 'checkout' | 'clean', string>>>
  sparsePaths: readonly string[] | null
  sshSecret: string | null
  commitVerification: 'strict' | 'off' | 'warn' | null
}

export interface Signature {
  algorithm: string
  signedFields: readonly string[]
  value: string
  /** Signed attributes whose values the reader changes, as their author wrote them. Absent in steps of older builds. */
  asWritten?: SignedAttributes
}

export interface SignedAttributes {
  matrix?: unknown
  checkout?: unknown
  /** In the form that uploaders give it: `{key, environment_variable}`. */
  secrets?: ReadonlyArray<Readonly<Record<string, unknown>>>
}

/** One notification: the service's name, its settings as written, and its condition. */
export interface NotifyEntry {
  service:
    | 'email'
    | 'slack'
    | 'webhook'
    | 'basecamp_campfire'
    | 'pagerduty_change_event'
    | 'github_commit_status'
    | 'github_check'
  settings: unknown
  condition: string | null
  /** Of a build: steps that a fork has uploaded ask for it. */
  fromFork?: true
}
