// The author of a pull request from a fork decides what its jobs run, so these jobs get nothing that is not public. A
// commit counts as a fork's unless it is known to be the repository's own.
import { sql, type RawBuilder } from 'kysely'
import type { NotifyEntry, PipelineDocument, StepDefinition } from '@millrace/engine/steps/types.ts'
import type { Db } from '../db/pool.ts'
import { prepared } from '../db/statement.ts'

/** Whose commit is built. There is no default: every code path that creates builds decides it. */
export type CommitOrigin = 'own' | 'fork'

/** Builds that an untrusted build triggered, and rebuilds of either, are untrusted too. */
export async function isUntrusted(
  db: Db,
  organizationId: string,
  buildIds: readonly string[],
): Promise<boolean> {
  for (const buildId of buildIds) {
    const { rows } = await firstUntrusted(organizationId, buildId).execute(db)
    if (rows.length > 0) return true
  }
  return false
}

const firstUntrusted = prepared(
  (organizationId: string, buildId: string) => sql`
    with recursive ${lineOf(organizationId, buildId)}
    select from line join builds b on b.organization_id = ${organizationId} and b.id = line.id
    left join pipelines p on p.id = line.pipeline_id
    where ${isFork} and coalesce((p.provider_settings -> 'trust_pull_request_forks')::boolean, false) is false
    limit 1`,
)

interface Origins {
  isFork: boolean
  isPullRequest: boolean
  isMergeQueue: boolean
}

/** Whether a build, or a build it was triggered by or rebuilds, is for a fork, a pull request or a merge queue. */
export async function originsOf(db: Db, organizationId: string, buildId: string): Promise<Origins> {
  const { rows } = await sql<Origins>`
    with recursive ${lineOf(organizationId, buildId)}
    select coalesce(bool_or(${isFork}), false) as "isFork",
      coalesce(bool_or(jsonb_typeof(b.pull_request) = 'object'), false) as "isPullRequest",
      coalesce(bool_or(b.host_event -> 'mergeQueue' <> 'null'), false) as "isMergeQueue"
    from line join builds b on b.organization_id = ${organizationId} and b.id = line.id`.execute(db)
  return rows[0] ?? { isFork: true, isPullRequest: true, isMergeQueue: true }
}

/**
 * Whether a step that a job has uploaded triggered the build, or a build that led to it. In an untrusted build the author of a fork
 * has then chosen the pipeline, and with which commit and variables it is built.
 */
export async function isTriggeredByUpload(db: Db, organizationId: string, buildId: string): Promise<boolean> {
  const { rows } = await sql`
    with recursive ${lineOf(organizationId, buildId)}
    select from line join builds b on b.organization_id = ${organizationId} and b.id = line.id
    join jobs j on j.organization_id = ${organizationId} and j.id = (b.triggered_from ->> 'job_id')::uuid
    join build_steps s on s.organization_id = ${organizationId} and s.id = j.step_id
    where s.uploader_id is not null limit 1`.execute(db)
  return rows.length > 0
}

/** For queries with `builds b`. Earlier versions stored it in the pull request only. */
export const isFork = sql<boolean>`(b.from_fork is true or coalesce(b.pull_request ->> 'fork' = 'true', false))`

/** For queries with `builds b`: whether `isUntrusted` needs to look at the build. Few builds descend from others. */
export const mayBeUntrusted = sql<boolean>`
  (${isFork} or b.triggered_from is not null or b.rebuilt_from is not null)`

type Value = string | RawBuilder<unknown>

/** The build, the builds that led to it by a trigger step, and the builds they rebuild. */
const lineOf = (organizationId: Value, buildId: Value) => sql`
  line (id, pipeline_id, from_trigger, from_rebuild) as (
    select id, pipeline_id, triggered_from ->> 'build_id', rebuilt_from ->> 'id'
    from builds where organization_id = ${organizationId} and id = ${buildId}
    union
    select up.id, up.pipeline_id, up.triggered_from ->> 'build_id', up.rebuilt_from ->> 'id'
    from line join builds up on up.organization_id = ${organizationId}
      and up.id in (line.from_trigger::uuid, line.from_rebuild::uuid)
  )`

/** For queries with a build `ended`: whether a fork, a pull request or a merge queue is in its line. */
const hasOrigin = sql`exists (
  with recursive ${lineOf(sql`ended.organization_id`, sql`ended.id`)}
  select from line join builds b on b.organization_id = ended.organization_id and b.id = line.id
  where ${isFork} or jsonb_typeof(b.pull_request) = 'object' or b.host_event -> 'mergeQueue' <> 'null')`

/**
 * For queries with a build `ended`: whether a build that descends from it would count as the repository's own without it,
 * because the line to a fork, a pull request or a merge queue leads through it. `offset 0` makes PostgreSQL use an index for each
 * build instead of reading all builds.
 */
export const isOriginOfOthers: RawBuilder<boolean> = sql`(
  case when exists (
      select from builds c where c.triggered_from is not null and c.triggered_from ->> 'build_id' = ended.id::text
        and c.organization_id = ended.organization_id offset 0)
    or exists (
      select from builds c where c.rebuilt_from is not null and c.rebuilt_from ->> 'id' = ended.id::text
        and c.organization_id = ended.organization_id offset 0)
  then ${hasOrigin} else false end)`

/** The builds that these keep because of `isOriginOfOthers`. */
export async function listKeptOrigins(
  db: Db,
  organizationId: string,
  ids: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select ended.id from builds ended
    where ended.organization_id = ${organizationId} and ended.id in (
        select unnest(array[c.triggered_from ->> 'build_id', c.rebuilt_from ->> 'id'])::uuid from builds c
        where c.organization_id = ${organizationId} and c.id = any (${ids}::uuid[]))
      and ${hasOrigin}`.execute(db)
  return rows.map(({ id }) => id)
}

/** Steps that an untrusted build uploads may notify only the host of its commit. */
export function notifyingOnlyItsHost(document: PipelineDocument): PipelineDocument {
  const withoutOthers = <Step extends StepDefinition>(step: Step): Step => ({
    ...step,
    ...('notify' in step ? { notify: step.notify.filter(isForHost) } : {}),
    ...('steps' in step ? { steps: step.steps.map(withoutOthers) } : {}),
  })
  return {
    ...document,
    notify: document.notify.filter(isForHost).map((entry) => ({ ...entry, fromFork: true as const })),
    steps: document.steps.map(withoutOthers),
  }
}

const isForHost = ({ service }: NotifyEntry) =>
  service === 'github_commit_status' || service === 'github_check'
