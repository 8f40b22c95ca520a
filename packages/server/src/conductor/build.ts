// A build before and after it exists. A `BuildRequest` is what REST, a schedule, a source host, a trigger step or a
// rebuild asks for. A `Build` is what conditions and jobs may see of a build.
import { sql, type RawBuilder } from 'kysely'
import type { ConditionFacts } from '@millrace/engine/conditions/facts.ts'
import type { BuildState } from '@millrace/engine/states.ts'
import type { BlockedState } from '@millrace/engine/steps/types.ts'
import type { Db } from '../db/pool.ts'
import { prepared } from '../db/statement.ts'
import { newId } from '../lib/ids.ts'
import { withoutUserinfo } from '../lib/userinfo.ts'
import type { CommitOrigin } from './trust.ts'

export interface PullRequest {
  id: string
  base: string | null
  repository: string | null
  labels: readonly string[]
  draft: boolean | null
  /** Whether its commits come from another repository; absent where only the caller could know. */
  fork?: boolean
  /** Its newest commit, where the build is of the merge with the base branch. */
  head?: string
  /** The repository to check out, where the pipeline's repository does not have its commits. */
  checkout?: string
}

/** The source host's event that made the build. */
interface BuildSourceEvent {
  event: string
  action: string | null
  /** Set for labeled and unlabeled events. */
  label: string | null
  mergeQueue: { baseBranch: string; baseCommit: string } | null
}

export interface Author {
  name: string | null
  email: string | null
}

/** How the push or event that a build is of was heard of. */
export type FoundBy = 'webhook' | 'hook' | 'poll' | 'reconcile'

export interface BuildRequest {
  pipelineId: string
  source: 'webhook' | 'api' | 'ui' | 'trigger_job' | 'schedule'
  creatorId: string | null
  author: Author | null
  commit: string
  /** A triggered build or a rebuild counts as a fork's too if the earlier build does. */
  commitOrigin: CommitOrigin
  branch: string
  tag: string | null
  message: string | null
  env: Readonly<Record<string, string>>
  metaData: Readonly<Record<string, string>>
  pullRequest: PullRequest | null
  /** Set for builds that a source host's event made. */
  hostEvent?: BuildSourceEvent | null
  /** Set for them too, and for builds of a trigger. */
  foundBy?: FoundBy | 'trigger' | null
  cleanCheckout: boolean
  ignoreBranchFilters: boolean
  rebuiltFrom: { id: string; number: number } | null
  triggeredFrom: {
    build_id: string
    build_number: number
    build_pipeline_slug: string
    job_id: string
    depth: number
  } | null
  /** A machine asks for it, though a person may be its creator. Absent: its creator and source tell. */
  isMachine?: boolean
  /** When the build was due; null: now. */
  dueAt: string | null
}

export interface Creator {
  id: string
  name: string
  email: string
  teams: string[]
}

/** Where a build belongs and who made it. */
export interface BuildOrigin {
  organization: { id: string; slug: string }
  pipeline: {
    id: string
    slug: string
    name: string
    repository: string
    default_branch: string
  }
  creator: Creator | null
}

export interface Build
  extends
    BuildOrigin,
    Pick<
      BuildRequest,
      | 'branch'
      | 'commit'
      | 'tag'
      | 'message'
      | 'source'
      | 'author'
      | 'pullRequest'
      | 'hostEvent'
      | 'env'
      | 'triggeredFrom'
      | 'rebuiltFrom'
      | 'cleanCheckout'
    > {
  id: string
  number: number
  state: BuildState
  blockedState: BlockedState | null
  /** The variables of the pipeline and its configuration. */
  storedEnv: Readonly<Record<string, string>>
  /** The variables of uploaded steps. */
  uploadedEnv: Readonly<Record<string, string>>
}

/** The build that a request asks for. It has no number yet. */
export const requestedBuild = (
  request: BuildRequest,
  { organization, pipeline, creator }: BuildOrigin,
  pipelineEnv: Readonly<Record<string, string>>,
): Build => ({
  ...request,
  organization,
  pipeline,
  creator,
  id: newId(),
  number: 0,
  state: 'creating',
  blockedState: null,
  storedEnv: pipelineEnv,
  uploadedEnv: {},
})

/** The variables that a configuration and its conditions may use. A new build has no number yet, so it is not among them. */
export function buildVariables(build: Build): ReadonlyMap<string, string> {
  const { organization, pipeline, pullRequest, hostEvent, triggeredFrom } = build
  return new Map(
    Object.entries({
      ...build.storedEnv,
      ...build.env,
      ...build.uploadedEnv,
      BUILDKITE_BRANCH: build.branch,
      BUILDKITE_TAG: build.tag ?? '',
      BUILDKITE_MESSAGE: build.message ?? '',
      BUILDKITE_COMMIT: build.commit,
      BUILDKITE_PIPELINE_SLUG: pipeline.slug,
      BUILDKITE_PIPELINE_NAME: pipeline.name,
      BUILDKITE_PIPELINE_ID: pipeline.id,
      BUILDKITE_ORGANIZATION_SLUG: organization.slug,
      BUILDKITE_TRIGGERED_FROM_BUILD_PIPELINE_SLUG: triggeredFrom?.build_pipeline_slug ?? '',
      BUILDKITE_REPO: withoutUserinfo(pullRequest?.checkout ?? pipeline.repository),
      BUILDKITE_PULL_REQUEST: pullRequest?.id ?? 'false',
      BUILDKITE_PULL_REQUEST_BASE_BRANCH: pullRequest?.base ?? '',
      BUILDKITE_PULL_REQUEST_REPO: pullRequest?.repository ?? '',
      BUILDKITE_MERGE_QUEUE_BASE_BRANCH: hostEvent?.mergeQueue?.baseBranch ?? '',
      BUILDKITE_MERGE_QUEUE_BASE_COMMIT: hostEvent?.mergeQueue?.baseCommit ?? '',
    }),
  )
}

export function conditionFacts(build: Build): ConditionFacts {
  const { organization, pipeline, creator, pullRequest, hostEvent } = build
  const author = build.author ?? creator
  const variables = buildVariables(build)
  return {
    organization: { id: organization.id, slug: organization.slug },
    pipeline: {
      id: pipeline.id,
      slug: pipeline.slug,
      defaultBranch: pipeline.default_branch,
      repository: withoutUserinfo(pipeline.repository),
    },
    env: (name) => variables.get(name),
    build: {
      id: build.id,
      number: build.number,
      branch: build.branch,
      commit: build.commit,
      tag: build.tag,
      message: build.message,
      state: build.state,
      blockedState: build.blockedState,
      fixed: null,
      source: build.source,
      sourceEvent: hostEvent?.event ?? null,
      sourceAction: hostEvent?.action ?? null,
      mergeQueue: hostEvent?.mergeQueue ?? null,
      author: author === null ? null : { id: null, name: author.name, email: author.email, teams: null },
      creator: creator === null ? null : { ...creator, verified: true },
      pullRequest:
        pullRequest === null
          ? null
          : {
              id: pullRequest.id,
              baseBranch: pullRequest.base,
              repository: pullRequest.repository,
              isFork: pullRequest.fork ?? differs(pullRequest.repository, pipeline.repository),
              isDraft: pullRequest.draft,
              labels: pullRequest.labels,
              label: hostEvent?.label ?? null,
            },
    },
  }
}

const differs = (repository: string | null, from: string) =>
  repository === null ? null : repository !== from

/** A user of the organization with the slugs of their teams, as one JSON column. */
export const personJson = (
  organizationId: string,
  userId: RawBuilder<unknown>,
): RawBuilder<Creator | null> => sql`
  (select json_build_object('id', u.id, 'name', u.name, 'email', u.email, 'teams', array(
      select t.slug from team_members m join teams t on t.id = m.team_id
      where m.organization_id = ${organizationId} and m.user_id = u.id order by t.slug))
    from users u where u.id = ${userId})`

/** For queries with `organizations o` and `pipelines p`. */
export const originFields = (organizationId: string, creatorId: RawBuilder<unknown>) => sql`
  ${personJson(organizationId, creatorId)} as creator,
  json_build_object('id', o.id, 'slug', o.slug) as organization,
  json_build_object('id', p.id, 'slug', p.slug, 'name', p.name, 'repository', p.repository,
    'default_branch', p.default_branch) as pipeline`

const selectBuild = (organizationId: string, buildId: RawBuilder<unknown>) => sql<Build>`
    select b.id, b.number, b.state, b.blocked_state as "blockedState", b.branch, b.commit, b.tag, b.message, b.source,
      b.author, b.pull_request as "pullRequest", b.host_event as "hostEvent", b.env, b.stored_env as "storedEnv", b.uploaded_env as "uploadedEnv",
      b.triggered_from as "triggeredFrom", b.rebuilt_from as "rebuiltFrom", b.clean_checkout as "cleanCheckout",
      ${originFields(organizationId, sql`b.creator_id`)}
    from builds b join pipelines p on p.id = b.pipeline_id join organizations o on o.id = b.organization_id
    where b.organization_id = ${organizationId} and b.id = ${buildId}`

const build = prepared((organizationId: string, buildId: string) =>
  selectBuild(organizationId, sql`${buildId}`),
)

const buildOfJob = prepared((organizationId: string, jobId: string) =>
  selectBuild(
    organizationId,
    sql`(select j.build_id from jobs j where j.organization_id = ${organizationId} and j.id = ${jobId})`,
  ),
)

export async function findBuild(db: Db, organizationId: string, buildId: string): Promise<Build | undefined> {
  const { rows } = await build(organizationId, buildId).execute(db)
  return rows[0]
}

export async function findBuildOfJob(
  db: Db,
  organizationId: string,
  jobId: string,
): Promise<Build | undefined> {
  const { rows } = await buildOfJob(organizationId, jobId).execute(db)
  return rows[0]
}
