// Variables that an agent with verification keys takes from a job although no signature covers them. All others are dropped: a
// variable can make almost any program run a command or load a file. Whoever controls the server, or may create
// builds, chooses the values below, so none of them may name a program, a file of the machine or another repository.

import { GIT_FLAG_VARIABLES } from './protected-variables.ts'

/** What the server says about the build and the job. Programs get these as data. */
const FACTS = new Set([
  'CI',
  'BUILDKITE',
  ...[
    'AGENT_ID AGENT_NAME BRANCH BUILD_AUTHOR BUILD_AUTHOR_EMAIL BUILD_CREATOR BUILD_CREATOR_EMAIL BUILD_CREATOR_TEAMS',
    'BUILD_ID BUILD_NUMBER BUILD_URL CLUSTER_ID CLUSTER_NAME COMMIT COMPUTE_TYPE GROUP_ID GROUP_KEY GROUP_LABEL JOB_ID LABEL',
    'MERGE_QUEUE_BASE_BRANCH MERGE_QUEUE_BASE_COMMIT MESSAGE ORGANIZATION_ID ORGANIZATION_SLUG PARALLEL_JOB',
    'PARALLEL_JOB_COUNT PIPELINE_DEFAULT_BRANCH PIPELINE_ID PIPELINE_NAME PIPELINE_PROVIDER PIPELINE_SLUG PIPELINE_TEAMS',
    'PULL_REQUEST PULL_REQUEST_BASE_BRANCH PULL_REQUEST_DRAFT PULL_REQUEST_LABELS PULL_REQUEST_REPO',
    'REBUILT_FROM_BUILD_ID REBUILT_FROM_BUILD_NUMBER RETRY_COUNT SOURCE STEP_ID STEP_KEY TAG TIMEOUT',
    'TRIGGERED_FROM_BUILD_ID TRIGGERED_FROM_BUILD_NUMBER TRIGGERED_FROM_BUILD_PIPELINE_SLUG UNBLOCKER UNBLOCKER_EMAIL',
    'UNBLOCKER_ID UNBLOCKER_TEAMS',
  ]
    .flatMap((line) => line.split(' '))
    .map((name) => `BUILDKITE_${name}`),
])

/** The check of the signature compares these with the signed step. */
const COMPARED = new Set(['BUILDKITE_COMMAND', 'BUILDKITE_PLUGINS', 'BUILDKITE_REPO'])

const FACT_OF_AGENT = /^BUILDKITE_AGENT_META_DATA_[A-Z0-9_]+$/
const SWITCH = /^(?:true|false|0|1|)$/

const HARMLESS_VALUES: ReadonlyMap<string, (value: string) => boolean> = new Map([
  ['BUILDKITE_ARTIFACT_PATHS', isBelowCheckout],
  ['BUILDKITE_GIT_COMMIT_VERIFICATION', (value) => /^(?:strict|warn|off)$/.test(value)],
  ...[
    'CLEAN_CHECKOUT',
    'GIT_LFS_ENABLED',
    'GIT_SUBMODULES',
    'PULL_REQUEST_USING_MERGE_REFSPEC',
    'USE_GITHUB_APP_GIT_CREDENTIALS',
    'USE_REPOSITORY_PROVIDER_GIT_CREDENTIALS',
  ].map((name) => [`BUILDKITE_${name}`, (value: string) => SWITCH.test(value)] as const),
])

/** Call it for variables that are not protected: those are never taken from a job. */
export function isHarmlessUnsigned(name: string, value: string): boolean {
  if (FACTS.has(name) || COMPARED.has(name) || FACT_OF_AGENT.test(name)) return true
  // With dangerous values they are protected.
  if (GIT_FLAG_VARIABLES.has(name)) return true
  return HARMLESS_VALUES.get(name)?.(value) ?? false
}

/** Other patterns could upload files of the machine. */
function isBelowCheckout(patterns: string): boolean {
  return patterns.split(/[;\n]/).every((pattern) => {
    const path = pattern.trim().replace(/^(\.\/)+/, '')
    return !path.startsWith('/') && !path.split('/').includes('..')
  })
}

const MAX_NAMES = 50

/** Names come from outside: only their plain characters are shown. */
export function describeNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => name.replaceAll(/[^\w.%()-]/g, '?').slice(0, 100))
  const rest = names.length - shown.length
  return rest === 0 ? shown.join(', ') : `${shown.join(', ')} and ${rest} more`
}
