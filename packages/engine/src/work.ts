// The work of a job, without its state. The planner creates it once for storage; the engine never reads it again.

import type {
  BlockedState,
  CacheVolume,
  Checkout,
  ConcurrencyLimit,
  Field,
  Plugin,
  Signature,
} from './steps/types.ts'

export type JobWork = ScriptWork | TriggerWork | ManualWork | WaiterWork

export interface ParallelPosition {
  index: number
  total: number
}

export interface ScriptWork {
  kind: 'script'
  label: string | null
  command: string | null
  agents: readonly string[]
  artifactPaths: string | null
  cache: CacheVolume | null
  checkout: Checkout | null
  concurrency: ConcurrencyLimit | null
  env: Readonly<Record<string, string>>
  image: string | null
  /** Dimension to value; the bare value for the unnamed dimension. */
  matrix: string | Readonly<Record<string, string>> | null
  parallel: ParallelPosition | null
  plugins: readonly Plugin[]
  priority: number
  secrets: Readonly<Record<string, string>>
  signature: Signature | null
  /** As in the step. */
  testResults?: readonly string[]
  timeoutMinutes: number | null
}

export interface TriggerWork {
  kind: 'trigger'
  label: string | null
  pipeline: string
  message: string | null
  commit: string | null
  branch: string | null
  env: Readonly<Record<string, string>>
  metaData: Readonly<Record<string, string>>
  async: boolean
  parallel: ParallelPosition | null
}

export interface ManualWork {
  kind: 'manual'
  label: string | null
  prompt: string | null
  submit: string | null
  fields: readonly Field[]
  blockedState: BlockedState
  allowedTeams: readonly string[]
}

interface WaiterWork {
  kind: 'waiter'
  label: string | null
}
