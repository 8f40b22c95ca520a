// The environment of a command job. Later layers beat earlier ones: variables stored with the pipeline, of the
// build, of uploaded documents, of the step, then those the service sets itself.

import { canonicalPluginSource } from './plugin-source.ts'
import type { Checkout } from './steps/types.ts'
import type { ScriptWork } from './work.ts'

export type Env = Readonly<Record<string, string>>

interface EnvironmentLayers {
  stored: Env
  build: Env
  uploaded: Env
  /** The step's own variables, with the job's command, plugins and place. */
  work: ScriptWork
  standard: StandardFacts
}

export interface Person {
  name: string | null
  email: string | null
  /** Slugs. */
  teams: readonly string[]
}

export interface StandardFacts {
  organization: { id: string; slug: string }
  pipeline: {
    id: string
    slug: string
    name: string
    defaultBranch: string | null
    repository: string
    provider: string | null
    teams: readonly string[]
  }
  cluster: { id: string; name: string } | null
  build: {
    id: string
    number: number
    url: string
    branch: string
    commit: string
    message: string | null
    tag: string | null
    source: string
    author: Person | null
    creator: Person | null
    pullRequest: {
      id: string
      baseBranch: string | null
      repository: string | null
      isDraft: boolean | null
      labels: readonly string[]
    } | null
    rebuiltFrom: { id: string; number: number } | null
    triggeredFrom: { id: string; number: number; pipelineSlug: string } | null
    mergeQueue: { baseBranch: string | null; baseCommit: string | null } | null
    cleanCheckout: boolean
  }
  step: { id: string; key: string | null }
  group: { id: string; key: string | null; label: string | null } | null
  job: { id: string; retriesCount: number; timeoutMinutes: number | null }
  agent: { id: string; name: string; tags: readonly string[]; isHosted: boolean } | null
  access: { endpoint: string; token: string } | null
  unblocker: (Person & { id: string }) | null
}

export function jobEnvironment({ stored, build, uploaded, work, standard }: EnvironmentLayers): Env {
  const written = { ...stored, ...build, ...uploaded, ...work.env }
  return { ...written, ...checkoutVariables(work.checkout, written), ...standardVariables(work, standard) }
}

/** The variables that `checkout` sets. Switches override the step's own variables; flags and paths do not. */
export function checkoutVariables(checkout: Checkout | null, written: Env): Env {
  if (checkout === null) return {}
  const { flags, depth } = checkout
  const yielding = present({
    BUILDKITE_GIT_CLONE_FLAGS: flags.clone,
    BUILDKITE_GIT_FETCH_FLAGS: flags.fetch,
    BUILDKITE_GIT_CHECKOUT_FLAGS: flags.checkout,
    BUILDKITE_GIT_CLEAN_FLAGS: flags.clean,
    BUILDKITE_GIT_SPARSE_CHECKOUT_PATHS: checkout.sparsePaths?.join(','),
    BUILDKITE_GIT_COMMIT_VERIFICATION: checkout.commitVerification,
  })
  const merged: Env = { ...yielding, ...written }
  const deepen = (name: string, fallback: string): string | null =>
    depth === null ? null : `${merged[name] ?? fallback} --depth=${depth}`
  const kept = Object.fromEntries(Object.entries(yielding).filter(([name]) => !Object.hasOwn(written, name)))
  return {
    ...kept,
    ...present({
      BUILDKITE_SKIP_CHECKOUT: checkout.skip,
      BUILDKITE_GIT_SUBMODULES: checkout.submodules,
      BUILDKITE_GIT_LFS_ENABLED: checkout.lfs,
      BUILDKITE_GIT_CLONE_FLAGS: deepen('BUILDKITE_GIT_CLONE_FLAGS', '-v'),
      BUILDKITE_GIT_FETCH_FLAGS: deepen('BUILDKITE_GIT_FETCH_FLAGS', '-v --prune'),
    }),
  }
}

export function standardVariables(work: ScriptWork, facts: StandardFacts): Env {
  return {
    CI: 'true',
    BUILDKITE: 'true',
    ...buildVariables(facts),
    ...pipelineVariables(facts),
    ...jobVariables(work, facts),
    ...agentVariables(facts),
  }
}

function buildVariables({ build, unblocker }: StandardFacts): Env {
  const { pullRequest } = build
  return present({
    BUILDKITE_BRANCH: build.branch,
    BUILDKITE_BUILD_AUTHOR: build.author?.name,
    BUILDKITE_BUILD_AUTHOR_EMAIL: build.author?.email,
    BUILDKITE_BUILD_CREATOR: build.creator?.name,
    BUILDKITE_BUILD_CREATOR_EMAIL: build.creator?.email,
    BUILDKITE_BUILD_CREATOR_TEAMS: build.creator?.teams.join(':'),
    BUILDKITE_BUILD_ID: build.id,
    BUILDKITE_BUILD_NUMBER: build.number,
    BUILDKITE_BUILD_URL: build.url,
    BUILDKITE_CLEAN_CHECKOUT: build.cleanCheckout ? 'true' : null,
    BUILDKITE_COMMIT: build.commit,
    BUILDKITE_MERGE_QUEUE_BASE_BRANCH: build.mergeQueue?.baseBranch,
    BUILDKITE_MERGE_QUEUE_BASE_COMMIT: build.mergeQueue?.baseCommit,
    BUILDKITE_MESSAGE: build.message ?? '',
    BUILDKITE_PULL_REQUEST: pullRequest?.id ?? 'false',
    BUILDKITE_PULL_REQUEST_BASE_BRANCH: pullRequest?.baseBranch ?? '',
    BUILDKITE_PULL_REQUEST_DRAFT: pullRequest?.isDraft,
    BUILDKITE_PULL_REQUEST_LABELS: pullRequest?.labels.join(','),
    BUILDKITE_PULL_REQUEST_REPO: pullRequest?.repository ?? '',
    BUILDKITE_REBUILT_FROM_BUILD_ID: build.rebuiltFrom?.id,
    BUILDKITE_REBUILT_FROM_BUILD_NUMBER: build.rebuiltFrom?.number,
    BUILDKITE_SOURCE: build.source,
    BUILDKITE_TAG: build.tag ?? '',
    BUILDKITE_TRIGGERED_FROM_BUILD_ID: build.triggeredFrom?.id,
    BUILDKITE_TRIGGERED_FROM_BUILD_NUMBER: build.triggeredFrom?.number,
    BUILDKITE_TRIGGERED_FROM_BUILD_PIPELINE_SLUG: build.triggeredFrom?.pipelineSlug,
    BUILDKITE_UNBLOCKER: unblocker?.name,
    BUILDKITE_UNBLOCKER_EMAIL: unblocker?.email,
    BUILDKITE_UNBLOCKER_ID: unblocker?.id,
    BUILDKITE_UNBLOCKER_TEAMS: unblocker?.teams.join(':'),
  })
}

function pipelineVariables({ organization, pipeline, cluster }: StandardFacts): Env {
  return present({
    BUILDKITE_CLUSTER_ID: cluster?.id,
    BUILDKITE_CLUSTER_NAME: cluster?.name,
    BUILDKITE_ORGANIZATION_ID: organization.id,
    BUILDKITE_ORGANIZATION_SLUG: organization.slug,
    BUILDKITE_PIPELINE_DEFAULT_BRANCH: pipeline.defaultBranch ?? '',
    BUILDKITE_PIPELINE_ID: pipeline.id,
    BUILDKITE_PIPELINE_NAME: pipeline.name,
    BUILDKITE_PIPELINE_PROVIDER: pipeline.provider ?? '',
    BUILDKITE_PIPELINE_SLUG: pipeline.slug,
    BUILDKITE_PIPELINE_TEAMS: pipeline.teams.join(':'),
    BUILDKITE_REPO: pipeline.repository,
  })
}

function jobVariables(work: ScriptWork, { step, group, job }: StandardFacts): Env {
  return present({
    BUILDKITE_ARTIFACT_PATHS: work.artifactPaths ?? '',
    BUILDKITE_COMMAND: work.command ?? '',
    BUILDKITE_GROUP_ID: group?.id,
    BUILDKITE_GROUP_KEY: group?.key,
    BUILDKITE_GROUP_LABEL: group?.label,
    BUILDKITE_IMAGE: work.image,
    BUILDKITE_JOB_ID: job.id,
    BUILDKITE_LABEL: work.label ?? '',
    BUILDKITE_PARALLEL_JOB: work.parallel?.index,
    BUILDKITE_PARALLEL_JOB_COUNT: work.parallel?.total,
    BUILDKITE_PLUGINS: work.plugins.length === 0 ? null : pluginsJson(work.plugins),
    BUILDKITE_RETRY_COUNT: job.retriesCount,
    BUILDKITE_STEP_ID: step.id,
    BUILDKITE_STEP_KEY: step.key ?? '',
    BUILDKITE_TIMEOUT: job.timeoutMinutes ?? 'false',
  })
}

function agentVariables({ agent, access }: StandardFacts): Env {
  const tags = (agent?.tags ?? []).map((tag): [string, string] => {
    const [name = '', ...value] = tag.split('=')
    return [`BUILDKITE_AGENT_META_DATA_${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`, value.join('=')]
  })
  return {
    ...Object.fromEntries(tags),
    ...present({
      BUILDKITE_AGENT_ACCESS_TOKEN: access?.token,
      BUILDKITE_AGENT_ENDPOINT: access?.endpoint,
      BUILDKITE_AGENT_ID: agent?.id,
      BUILDKITE_AGENT_NAME: agent?.name,
      BUILDKITE_COMPUTE_TYPE: agent === null ? null : agent.isHosted ? 'hosted' : 'self-hosted',
    }),
  }
}

function pluginsJson(plugins: ScriptWork['plugins']): string {
  return JSON.stringify(
    plugins.map(({ source, config }) => ({ [canonicalPluginSource(source)]: config ?? null })),
  )
}

function present(values: Record<string, string | number | boolean | null | undefined>): Env {
  const entries = Object.entries(values).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))
}
