// What the commands of buildkite-agent in a local build share.
import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { EnvLookup } from '@millrace/engine/expansion.ts'
import type { AgentAnswer, AgentCall } from './agent-door.ts'
import type { ArtifactStore } from './artifact-store.ts'
import type { PipelineFile } from './pipeline-file.ts'
import { Refused } from './refused.ts'

/** What the commands act on. */
export interface AgentHost {
  metaData: Map<string, string>
  artifacts: ArtifactStore
  /** Which jobs a search for artifacts is about: those of a step by its key or label, or one by its id; null: all. */
  jobFilter(step: string | null, includesRetried: boolean): (jobId: string) => boolean
  /** How many steps it added, or why it did not, as text for a person. */
  upload(jobId: string, upload: Upload): Promise<{ ok: true; steps: number } | { ok: false; message: string }>
  annotate(jobId: string, style: string, body: string): void
  removeAnnotation(jobId: string, context: string): void
}

export interface Upload {
  file: PipelineFile
  replace: boolean
  /** null: variables stay as they are written. */
  lookup: EnvLookup | null
}

export interface Occasion {
  host: AgentHost
  call: AgentCall
  jobId: string
  args: string[]
  readInput: () => Promise<Buffer>
}

export type AgentCommand = (occasion: Occasion) => Promise<AgentAnswer> | AgentAnswer

/** Every command of the real one takes these; here they change nothing. */
const COMMON = {
  'log-level': { type: 'string' },
  debug: { type: 'boolean' },
  'no-color': { type: 'boolean' },
} as const

export type Parsed = { values: Record<string, unknown>; positionals: string[] }

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
