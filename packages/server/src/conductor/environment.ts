// The variables of a command job, computed on request.
import { sql } from 'kysely'
import { jobEnvironment, type Env, type Person, type StandardFacts } from '@millrace/engine/environment.ts'
import type { CommandStep } from '@millrace/engine/steps/types.ts'
import type { JobWork, ScriptWork } from '@millrace/engine/work.ts'
import type { Context } from '../context.ts'
import { connectionOfPipeline } from '../db/repository-connection.ts'
import { prepared } from '../db/statement.ts'
import { findBuildOfJob, personJson, type Build, type Creator } from './build.ts'
import { mayBeUntrusted } from './trust.ts'

interface Surroundings {
  work: JobWork
  definition: CommandStep
  priority: number
  runnableAt: string | null
  mayBeUntrusted: boolean
  /** The connection of the host of the repository, if jobs may check out with it. */
  connection: { url: string; hasApp: boolean } | null
  /** Whether the pipeline has a deploy key. */
  hasDeployKey: boolean
  /** What its agent can do beyond the protocol. */
  features: string[]
  /** The name and password for the repository, sealed. */
  userinfo: { sealed: string; keyId: string } | null
  job: StandardFacts['job']
  step: StandardFacts['step']
  group: StandardFacts['group']
  cluster: StandardFacts['cluster']
  agent: StandardFacts['agent']
  provider: string
  pipelineTeams: string[]
  unblocker: Creator | null
}

/** Empty for a job that runs no command. */
export async function environmentOf(
  ctx: Pick<Context, 'db' | 'config'>,
  organizationId: string,
  jobId: string,
): Promise<Env> {
  return (await findCommand(ctx, organizationId, jobId))?.env ?? {}
}

/** A command, and the variables it runs with. */
export interface Command extends Pick<
  Surroundings,
  | 'definition'
  | 'priority'
  | 'runnableAt'
  | 'mayBeUntrusted'
  | 'connection'
  | 'hasDeployKey'
  | 'features'
  | 'userinfo'
> {
  work: ScriptWork
  env: Env
  /** The pipeline's variables. */
  repository: string
  buildId: string
}

export async function findCommand(
  { db, config }: Pick<Context, 'db' | 'config'>,
  organizationId: string,
  jobId: string,
): Promise<Command | null> {
  const [surroundings, build] = await Promise.all([
    findSurroundings(organizationId, jobId).execute(db),
    findBuildOfJob(db, organizationId, jobId),
  ])
  const [around] = surroundings.rows
  if (around === undefined || build === undefined)
    throw new Error('A job vanished while its variables were read.')
  const { work } = around
  if (work.kind !== 'script') return null
  const env = jobEnvironment({
    stored: build.storedEnv,
    build: build.env,
    uploaded: build.uploadedEnv,
    work,
    standard: standardFacts(config.url, build, around),
  })
  return { ...around, work, env, buildId: build.id, repository: build.pipeline.repository }
}

function standardFacts(url: string, build: Build, around: Surroundings): StandardFacts {
  const { organization, pipeline, pullRequest, triggeredFrom } = build
  return {
    organization,
    pipeline: {
      id: pipeline.id,
      slug: pipeline.slug,
      name: pipeline.name,
      defaultBranch: pipeline.default_branch,
      repository: pullRequest?.checkout ?? pipeline.repository,
      provider: around.provider,
      teams: around.pipelineTeams,
    },
    cluster: around.cluster,
    build: {
      ...build,
      url: `${url}/${organization.slug}/${pipeline.slug}/builds/${build.number}`,
      author: authorOf(build),
      pullRequest: pullRequest && {
        id: pullRequest.id,
        baseBranch: pullRequest.base,
        repository: pullRequest.repository,
        isDraft: pullRequest.draft,
        labels: pullRequest.labels,
      },
      triggeredFrom: triggeredFrom && {
        id: triggeredFrom.build_id,
        number: triggeredFrom.build_number,
        pipelineSlug: triggeredFrom.build_pipeline_slug,
      },
      mergeQueue: build.hostEvent?.mergeQueue ?? null,
    },
    step: around.step,
    group: around.group,
    job: around.job,
    agent: around.agent,
    access: null,
    unblocker: around.unblocker,
  }
}

/** The creator is the author where the build names none. */
const authorOf = ({ author, creator }: Build): Person | null =>
  author === null ? creator : { ...author, teams: [] }

const lastUnblocker = sql`(
  select m.unblocked_by from jobs m where m.build_id = j.build_id and m.unblocked_by is not null
  order by m.unblocked_at desc limit 1)`

const findSurroundings = prepared(
  (organizationId: string, jobId: string) => sql<Surroundings>`
    select j.work, s.definition, j.priority, j.runnable_at as "runnableAt", ${mayBeUntrusted} as "mayBeUntrusted", (
        select json_build_object('url', rc.url, 'hasApp', rc.private_key_sealed is not null)
        from pipelines p join repository_connections rc on rc.id = ${connectionOfPipeline}
        where p.id = j.pipeline_id and rc.checkout_enabled
          and coalesce(rc.token_sealed, rc.private_key_sealed) is not null
      ) as connection, exists (select from deploy_keys k where k.pipeline_id = j.pipeline_id) as "hasDeployKey",
      coalesce(a.features, '{}') as features,
      (select json_build_object('sealed', encode(p.repository_userinfo_sealed, 'base64'), 'keyId', p.repository_userinfo_key_id)
        from pipelines p where p.id = j.pipeline_id and p.repository_userinfo_sealed is not null) as userinfo,
      json_build_object('id', j.id, 'retriesCount', j.retries_count, 'timeoutMinutes', j.timeout_minutes) as job,
      json_build_object('id', s.id, 'key', s.key) as step,
      case when g.id is not null then
        json_build_object('id', g.id, 'key', g.key, 'label', g.definition ->> 'label') end as "group",
      case when c.id is not null then json_build_object('id', c.id, 'name', c.name) end as cluster,
      case when a.id is not null then json_build_object('id', a.id, 'name', a.name, 'tags', a.tags, 'isHosted', c.hosted) end as agent,
      (select p.provider_id from pipelines p where p.id = j.pipeline_id) as provider,
      array(select t.slug from team_pipelines tp join teams t on t.id = tp.team_id
        where tp.pipeline_id = j.pipeline_id order by t.slug) as "pipelineTeams",
      ${personJson(organizationId, lastUnblocker)} as unblocker
    from jobs j join builds b on b.id = j.build_id join build_steps s on s.id = j.step_id
    left join build_steps g on g.id = s.group_id
    left join clusters c on c.id = j.cluster_id
    left join agents a on a.id = j.agent_id
    where j.organization_id = ${organizationId} and j.id = ${jobId}`,
)
