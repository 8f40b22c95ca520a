import type { ConditionFacts } from './facts.ts'

export type Value = string | number | boolean | null | readonly string[]

export type Type =
  | { kind: 'string' | 'integer' | 'boolean' | 'strings' | 'regex' | 'null' }
  | { kind: 'enum'; values: readonly string[]; synonyms: ReadonlyMap<string, string> }

interface Variable {
  type: Type
  read: (facts: ConditionFacts) => Value | undefined
}

export const STRING: Type = { kind: 'string' }
export const INTEGER: Type = { kind: 'integer' }
export const BOOLEAN: Type = { kind: 'boolean' }
export const STRINGS: Type = { kind: 'strings' }
export const REGEX: Type = { kind: 'regex' }
export const NULL: Type = { kind: 'null' }

const BUILD_STATES: Type = {
  kind: 'enum',
  values: [
    'creating',
    'scheduled',
    'started',
    'running',
    'blocked',
    'passed',
    'failing',
    'failed',
    'canceling',
    'canceled',
    'skipped',
    'not_run',
  ],
  synonyms: new Map([['started', 'running']]),
}
const BLOCKED_STATES = enumOf('passed', 'failed', 'running')
const SOURCES = enumOf('ui', 'api', 'webhook', 'trigger_job', 'schedule', 'pipeline_trigger')
const STEP_TYPES = enumOf('command', 'wait', 'input', 'trigger', 'group')
const STEP_STATES = enumOf(
  'ignored',
  'waiting_for_dependencies',
  'ready',
  'waiting_for_input',
  'running',
  'failing',
  'canceled',
  'finished',
)
const STEP_OUTCOMES = enumOf('neutral', 'passed', 'soft_failed', 'hard_failed', 'errored')

const BUILD: Readonly<Record<string, Variable>> = {
  'build.id': { type: STRING, read: ({ build }) => build.id },
  'build.number': { type: INTEGER, read: ({ build }) => build.number },
  'build.branch': { type: STRING, read: ({ build }) => build.branch },
  'build.commit': { type: STRING, read: ({ build }) => build.commit },
  'build.tag': { type: STRING, read: ({ build }) => nullIfBlank(build.tag) },
  'build.message': { type: STRING, read: ({ build }) => nullIfBlank(build.message) },
  'build.state': { type: BUILD_STATES, read: ({ build }) => build.state },
  'build.blocked_state': { type: BLOCKED_STATES, read: ({ build }) => build.blockedState },
  'build.fixed': { type: BOOLEAN, read: ({ build }) => build.fixed },
  'build.source': { type: SOURCES, read: ({ build }) => build.source },
  'build.source_event': { type: STRING, read: ({ build }) => build.sourceEvent },
  'build.source_action': { type: STRING, read: ({ build }) => build.sourceAction },
  'build.author.id': { type: STRING, read: ({ build }) => build.author?.id },
  'build.author.name': { type: STRING, read: ({ build }) => build.author?.name },
  'build.author.email': { type: STRING, read: ({ build }) => build.author?.email },
  'build.author.teams': { type: STRINGS, read: ({ build }) => build.author?.teams },
  'build.creator.id': { type: STRING, read: ({ build }) => build.creator?.id },
  'build.creator.name': { type: STRING, read: ({ build }) => build.creator?.name },
  'build.creator.email': { type: STRING, read: ({ build }) => build.creator?.email },
  'build.creator.teams': { type: STRINGS, read: ({ build }) => build.creator?.teams },
  'build.creator.verified': { type: BOOLEAN, read: ({ build }) => build.creator?.verified },
  'build.scm.author.name': { type: STRING, read: ({ build }) => build.scm?.author?.name },
  'build.scm.author.email': { type: STRING, read: ({ build }) => build.scm?.author?.email },
  'build.scm.committer.name': { type: STRING, read: ({ build }) => build.scm?.committer?.name },
  'build.scm.committer.email': { type: STRING, read: ({ build }) => build.scm?.committer?.email },
  'build.pull_request.id': { type: STRING, read: ({ build }) => build.pullRequest?.id },
  'build.pull_request.base_branch': { type: STRING, read: ({ build }) => build.pullRequest?.baseBranch },
  'build.pull_request.repository': { type: STRING, read: ({ build }) => build.pullRequest?.repository },
  'build.pull_request.repository.fork': { type: BOOLEAN, read: ({ build }) => build.pullRequest?.isFork },
  'build.pull_request.label': { type: STRING, read: ({ build }) => build.pullRequest?.label },
  'build.pull_request.labels': { type: STRINGS, read: ({ build }) => build.pullRequest?.labels },
  'build.pull_request.draft': { type: BOOLEAN, read: ({ build }) => build.pullRequest?.isDraft },
  'build.merge_queue.base_branch': { type: STRING, read: ({ build }) => build.mergeQueue?.baseBranch },
  'build.merge_queue.base_commit': { type: STRING, read: ({ build }) => build.mergeQueue?.baseCommit },
}

const PIPELINE: Readonly<Record<string, Variable>> = {
  'pipeline.id': { type: STRING, read: ({ pipeline }) => pipeline.id },
  'pipeline.slug': { type: STRING, read: ({ pipeline }) => pipeline.slug },
  'pipeline.default_branch': { type: STRING, read: ({ pipeline }) => pipeline.defaultBranch },
  'pipeline.repository': { type: STRING, read: ({ pipeline }) => pipeline.repository },
  'pipeline.started_passing': { type: BOOLEAN, read: ({ pipeline }) => pipeline.startedPassing ?? false },
  'pipeline.started_failing': { type: BOOLEAN, read: ({ pipeline }) => pipeline.startedFailing ?? false },
  'organization.id': { type: STRING, read: ({ organization }) => organization.id },
  'organization.slug': { type: STRING, read: ({ organization }) => organization.slug },
}

const STEP: Readonly<Record<string, Variable>> = {
  'step.id': { type: STRING, read: ({ step }) => step?.id },
  'step.key': { type: STRING, read: ({ step }) => step?.key },
  'step.label': { type: STRING, read: ({ step }) => step?.label },
  'step.type': { type: STEP_TYPES, read: ({ step }) => step?.type },
  'step.state': { type: STEP_STATES, read: ({ step }) => step?.state },
  'step.outcome': { type: STEP_OUTCOMES, read: ({ step }) => step?.outcome },
}

export const VARIABLES: ReadonlyMap<string, Variable> = new Map(
  Object.entries({ ...BUILD, ...PIPELINE, ...STEP }),
)

export function isStepVariable(name: string): boolean {
  return name.startsWith('step.')
}

function enumOf(...values: string[]): Type {
  return { kind: 'enum', values, synonyms: new Map() }
}

function nullIfBlank(text: string | null): string | null {
  return text === null || text.trim() === '' ? null : text
}
