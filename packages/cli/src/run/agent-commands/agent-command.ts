// Shared by the buildkite-agent commands of a local build.
import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { EnvLookup } from '@millrace/engine/expansion.ts'
import type { AgentAnswer, AgentCall } from './agent-socket.ts'
import type { ArtifactStore } from './artifact-store.ts'
import type { PipelineFile } from '../pipeline-file.ts'
import { Refused } from '../../refused.ts'

/** The build that the commands act on. */
export interface AgentHost {
  metaData: Map<string, string>
  artifacts: ArtifactStore
  /** The jobs of an artifact search: those of a step by its key or label, or one job by its id; null: all. */
  jobFilter(step: string | null, includesRetried: boolean): (jobId: string) => boolean
  /** The number of added steps, or the reason of a refusal. */
  upload(jobId: string, upload: Upload): Promise<{ ok: true; steps: number } | { ok: false; message: string }>
  annotate(jobId: string, style: string, body: string): void
  removeAnnotation(jobId: string, context: string): void
}

export interface Upload {
  file: PipelineFile
  replace: boolean
  /** null: variables are not interpolated. */
  lookup: EnvLookup | null
}

export interface CommandCall {
  host: AgentHost
  call: AgentCall
  jobId: string
  args: string[]
  readInput: () => Promise<Buffer>
}

export type AgentCommand = (commandCall: CommandCall) => Promise<AgentAnswer> | AgentAnswer

/** Flags of every command of the public agent. They have no effect here. */
const COMMON = {
  'log-level': { type: 'string' },
  debug: { type: 'boolean' },
  'no-color': { type: 'boolean' },
} as const

type Parsed = { values: Record<string, unknown>; positionals: string[] }

export function parse(
  args: string[],
  options: NonNullable<ParseArgsConfig['options']>,
  most: number,
): Parsed {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { ...COMMON, ...options },
      allowPositionals: true,
    })
    if (positionals.length > most) throw new Refused(`There is no use for ${positionals[most]}.`)
    return { values, positionals }
  } catch (error) {
    if (error instanceof TypeError) throw new Refused(error.message)
    throw error
  }
}

export function done(stdout: string, status = 0): AgentAnswer {
  return { stdout, stderr: '', status }
}
