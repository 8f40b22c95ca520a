// Graphs of builds as the server sends them.
import type { Graph, GraphStep, ShortBuild, ShortJob } from '../src/client/watch/graph.ts'

export const aBuild = (changes: Partial<ShortBuild> = {}): ShortBuild => ({
  id: 'build',
  pipeline_id: 'pipeline',
  pipeline_slug: 'web',
  number: 12,
  state: 'running',
  blocked: false,
  message: 'Fix the login',
  branch: 'main',
  commit: '0123456789abcdef0123456789abcdef01234567',
  created_at: 0,
  started_at: 1000,
  finished_at: null,
  worked_before_seconds: 0,
  ...changes,
})

export const aStep = (id: string, changes: Partial<GraphStep> = {}): GraphStep => ({
  id,
  kind: 'command',
  key: id,
  label: id,
  group_id: null,
  parallelism: null,
  matrix: false,
  command: 'make',
  ...changes,
})

interface JobFacts {
  state: string
  label?: string
  index?: number
  attempt?: number
  started?: number
  finished?: number
  exit?: number
  soft?: boolean
  retriedIn?: string
  agent?: string
  note?: string
  unblockable?: boolean
}

export const aJob = (id: string, step: string, facts: JobFacts): ShortJob => [
  id,
  step,
  facts.state,
  facts.label ?? null,
  facts.index ?? null,
  facts.attempt ?? 0,
  0,
  0,
  facts.started ?? null,
  facts.finished ?? null,
  facts.exit ?? null,
  facts.soft ? 1 : 0,
  facts.retriedIn ?? null,
  facts.agent ?? null,
  facts.note ?? null,
  facts.unblockable ? 1 : 0,
]

export const aGraph = (steps: GraphStep[], jobs: ShortJob[], build = aBuild()): Graph => ({
  cursor: 'cursor-1',
  build,
  steps,
  edges: [],
  jobs,
})
