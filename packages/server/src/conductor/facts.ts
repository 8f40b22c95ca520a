// What conditions may look at in a build, whether it is being made or takes an upload.
import { sql, type RawBuilder } from 'kysely'
import type { ConditionFacts } from '@millrace/engine/conditions/facts.ts'
import type { EnvLookup } from '@millrace/engine/expansion.ts'
import type { BuildState } from '@millrace/engine/states.ts'
import type { BlockedState } from '@millrace/engine/steps/types.ts'
import type { Db } from '../db/pool.ts'
import { prepared } from '../db/statement.ts'
import { withoutUserinfo } from '../lib/userinfo.ts'
import type { BuildRequest } from './create-build.ts'
import { storedVariables } from './variables.ts'

export interface Creator {
  id: string
  name: string
  email: string
  teams: string[]
}

type Described = Pick<
  BuildRequest,
  'branch' | 'commit' | 'tag' | 'message' | 'source' | 'author' | 'pullRequest' | 'hostEvent'
>

export interface FactSources {
  organization: { id: string; slug: string }
  pipeline: { id: string; slug: string; repository: string; default_branch: string }
  build: Described & { id: string; number: number; state: BuildState; blockedState: BlockedState | null }
  creator: Creator | null
  env: EnvLookup
}

export function conditionFacts({ organization, pipeline, build, creator, env }: FactSources): ConditionFacts {
  const author = build.author ?? creator
  const { pullRequest, hostEvent } = build
  return {
    organization: { id: organization.id, slug: organization.slug },
    pipeline: {
      id: pipeline.id,
      slug: pipeline.slug,
      defaultBranch: pipeline.default_branch,
      repository: withoutUserinfo(pipeline.repository),
    },
    env,
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

/** A build as it stands, with everything that conditions and jobs may know of it. */
export interface KnownBuild extends Described {
  id: string
  number: number
  state: BuildState
  blockedState: BlockedState | null
  env: Record<string, string>
  storedEnv: Record<string, string>
  uploadedEnv: Record<string, string>
  triggeredFrom: BuildRequest['triggeredFrom']
  rebuiltFrom: BuildRequest['rebuiltFrom']
  cleanCheckout: boolean
  creator: Creator | null
  organization: { id: string; slug: string }
  pipeline: {
    id: string
    slug: string
    name: string
    repository: string
    default_branch: string
    provider: string
  }
}

export async function findKnownBuild(
  db: Db,
  organizationId: string,
  buildId: string,
): Promise<KnownBuild | undefined> {
  const { rows } = await knownBuild(organizationId, buildId).execute(db)
  return rows[0]
}

export async function findBuildOfJob(
  db: Db,
  organizationId: string,
  jobId: string,
): Promise<KnownBuild | undefined> {
  const { rows } = await knownBuildOfJob(organizationId, jobId).execute(db)
  return rows[0]
}

const selectKnownBuild = (organizationId: string, buildId: RawBuilder<unknown>) => sql<KnownBuild>`
    select b.id, b.number, b.state, b.blocked_state as "blockedState", b.branch, b.commit, b.tag, b.message, b.source,
      b.author, b.pull_request as "pullRequest", b.host_event as "hostEvent", b.env, b.stored_env as "storedEnv", b.uploaded_env as "uploadedEnv",
      b.triggered_from as "triggeredFrom", b.rebuilt_from as "rebuiltFrom", b.clean_checkout as "cleanCheckout",
      ${personJson(organizationId, sql`b.creator_id`)} as creator,
      json_build_object('id', o.id, 'slug', o.slug) as organization,
      json_build_object('id', p.id, 'slug', p.slug, 'name', p.name, 'repository', p.repository,
        'default_branch', p.default_branch, 'provider', p.provider_id) as pipeline
    from builds b join pipelines p on p.id = b.pipeline_id join organizations o on o.id = b.organization_id
    where b.organization_id = ${organizationId} and b.id = ${buildId}`

const knownBuild = prepared((organizationId: string, buildId: string) =>
  selectKnownBuild(organizationId, sql`${buildId}`),
)

const knownBuildOfJob = prepared((organizationId: string, jobId: string) =>
  selectKnownBuild(
    organizationId,
    sql`(select j.build_id from jobs j where j.organization_id = ${organizationId} and j.id = ${jobId})`,
  ),
)

/** What the conditions of an upload see: the variables of its own document beat those of earlier ones. */
export function uploadFacts(
  build: KnownBuild,
  uploadedEnv: Readonly<Record<string, string>>,
): ConditionFacts {
  const env = storedVariables({
    organizationSlug: build.organization.slug,
    pipeline: { ...build.pipeline, env: build.storedEnv },
    build: { ...build, env: { ...build.env, ...uploadedEnv } },
  })
  return conditionFacts({ ...build, build, env })
}
