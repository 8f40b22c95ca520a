// Builds as JSON text, created by PostgreSQL; without their pipeline, which many builds share.
import { sql, type RawBuilder } from 'kysely'
import type { JobState } from '@millrace/engine/states.ts'
import { bare, fieldWhere, escaped, object, text, time, where, word } from '../../../db/json-text.ts'
import type { Db } from '../../../db/pool.ts'
import { prepared } from '../../../db/statement.ts'
import { isOnPausedQueue, jobJson, jobsInBuilds, shownState, statesShownAs } from '../../job/job-json.ts'
import { graphqlIdOf, shownUser } from '../../people/user/user-json.ts'

export interface ShownJobs {
  includeRetried: boolean
  includePaused: boolean
  /** As the API spells them; null: all. */
  states: readonly string[] | null
}

export interface WrittenBuild {
  pipeline_id: string
  /** The object, without jobs and pipeline. */
  build: string
  /** The entries of `jobs`, between the brackets; null when they were not asked for. */
  jobs: string | null
}

/** In the order of `ids`, without those that were deleted. `jobs` null: leave them out. */
export async function writeBuilds(
  db: Db,
  url: string,
  orgIds: readonly string[],
  ids: readonly string[],
  jobs: ShownJobs | null,
): Promise<WrittenBuild[]> {
  const root = escaped(url)
  const [id] = ids
  const [orgId] = orgIds
  const shown = jobs === null ? null : ([jobs.includeRetried, jobs.includePaused, statesOf(jobs)] as const)
  if (id !== undefined && orgId !== undefined && ids.length === 1 && orgIds.length === 1) {
    const one = shown === null ? oneBuild(root, orgId, id) : oneBuildWithJobs(root, orgId, id, ...shown)
    return (await one.execute(db)).rows
  }
  const page =
    shown === null ? pageOfBuilds(root, orgIds, ids) : pageOfBuildsWithJobs(root, orgIds, ids, ...shown)
  return (await page.execute(db)).rows
}

const selectBuilds = (
  root: string,
  wanted: RawBuilder<unknown>,
  isThere: RawBuilder<unknown>,
  entries: RawBuilder<unknown>,
) => sql<WrittenBuild>`
  select b.pipeline_id, ${buildObject} as build, ${entries} as jobs
  from ${wanted}
  join builds b on b.id = wanted.id join pipelines p on p.id = b.pipeline_id
  join organizations o on o.id = b.organization_id
  cross join (select ${root}::text as root) here
  cross join lateral (
    select here.root, here.root || '/v2/organizations/' || o.slug || '/pipelines/' || p.slug || '/builds/' as builds
  ) at
  where ${isThere}
  order by wanted.position`

// PostgreSQL plans a statement with single ids once. With arrays it plans every time, which took 5 ms here.
const oneBuild = prepared((root: string, orgId: string, id: string) =>
  selectBuilds(root, wantedOne(id), sql`b.organization_id = ${orgId}`, sql`null`),
)

const oneBuildWithJobs = prepared(
  (root: string, orgId: string, id: string, ...shown: Parameters<typeof areShown>) =>
    selectBuilds(root, wantedOne(id), sql`b.organization_id = ${orgId}`, jobEntries(root, ...shown)),
  6,
)

const wantedOne = (id: string) => sql`(values (${id}::uuid, 1)) as wanted (id, position)`

const pageOfBuilds = prepared((root: string, orgIds: readonly string[], ids: readonly string[]) =>
  selectBuilds(root, wantedPage(ids), isInOne(orgIds), sql`null`),
)

const pageOfBuildsWithJobs = prepared(
  (root: string, orgIds: readonly string[], ids: readonly string[], ...shown: Parameters<typeof areShown>) =>
    selectBuilds(root, wantedPage(ids), isInOne(orgIds), jobEntries(root, ...shown)),
  6,
)

const wantedPage = (ids: readonly string[]) =>
  sql`unnest(${ids}::uuid[]) with ordinality as wanted (id, position)`

const isInOne = (orgIds: readonly string[]) => sql`b.organization_id = any (${orgIds}::uuid[])`

const jobEntries = (root: string, ...shown: Parameters<typeof areShown>) => sql`coalesce((
  select string_agg(listed.job, ',') from (
    select ${jobJson(root)} as job from jobs j
    where j.build_id = b.id and ${areShown(...shown)}
    order by j.position, j.created_at, j.id
  ) listed), '')`

interface JobPosition {
  position: string
  created_at: string
  id: string
}

const statesOf = ({ states }: ShownJobs): JobState[] | null => states && statesShownAs(states)

/** `states`: null for all. */
const areShown = (includeRetried: boolean, includePaused: boolean, states: readonly JobState[] | null) => sql`
  (${includeRetried}::boolean or j.retried_in_job_id is null)
  and (${states}::text[] is null or j.state = any (${states}::text[]))
  and (${includePaused}::boolean or not ${isOnPausedQueue})`

/** The entries of one build's `jobs`, in slices, without the commas between them. */
export async function* writeJobs(
  db: Db,
  url: string,
  build: { id: string; organization_id: string },
  shown: ShownJobs,
  mostInSlice: number,
): AsyncGenerator<string> {
  let last: JobPosition = {
    position: '',
    created_at: '-infinity',
    id: '00000000-0000-0000-0000-000000000000',
  }
  for (;;) {
    const { rows: slice } = await sql<JobPosition & { job: string }>`
      select j.position, j.created_at, j.id, ${jobJson(escaped(url))} as job from ${jobsInBuilds}
      where j.organization_id = ${build.organization_id} and j.build_id = ${build.id}
        and (j.position, j.created_at, j.id)
          > (${last.position}::text, ${last.created_at}::timestamptz, ${last.id}::uuid)
        and ${areShown(shown.includeRetried, shown.includePaused, statesOf(shown))}
      order by j.position, j.created_at, j.id limit ${mostInSlice}`.execute(db)
    if (slice.length > 0) yield slice.map(({ job }) => job).join(',')
    last = slice.at(-1) ?? last
    if (slice.length < mostInSlice) return
  }
}

/** The number of a build's jobs in each state, under the API's names. */
export async function countJobStates(
  db: Db,
  orgId: string,
  buildId: string,
  { includeRetried }: Pick<ShownJobs, 'includeRetried'>,
): Promise<Record<string, number>> {
  const { rows } = await sql<{ state: string; count: number }>`
    select ${shownState} as state, count(*) from jobs j
    where j.organization_id = ${orgId} and j.build_id = ${buildId}
      and (${includeRetried} or j.retried_in_job_id is null)
    group by 1 order by 1`.execute(db)
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

const buildObject = object(
  {
    id: word(sql`b.id`),
    graphql_id: word(graphqlIdOf('Build', sql`b.id`)),
    url: word(sql`at.builds || b.number`),
    web_url: word(sql`at.root || '/' || o.slug || '/' || p.slug || '/builds/' || b.number`),
    number: bare(sql`b.number`),
    state: word(sql`b.shown_state`),
    blocked: bare(sql`b.state = 'blocked'`),
    blocked_state: word(sql`coalesce(b.blocked_state, '')`),
    cancel_reason: text(sql`b.cancel_reason`),
    message: text(sql`b.message`),
    commit: text(sql`b.commit`),
    branch: text(sql`b.branch`),
    tag: text(sql`b.tag`),
    env: bare(sql`b.env`),
    source: word(sql`b.source`),
    author: bare(sql`b.author`),
    creator: shownUser(sql`at.root`, sql`b.creator_id`),
    created_at: time(sql`b.created_at`),
    scheduled_at: time(sql`b.scheduled_at`),
    started_at: time(sql`b.started_at`),
    failing_at: time(sql`b.failing_at`),
    finished_at: time(sql`b.finished_at`),
    meta_data: sql<string>`coalesce((
    select json_object_agg(m.key, m.value order by m.key)::text
    from build_meta_data m where m.build_id = b.id), '{}')`,
    pull_request: where(
      sql`b.pull_request is not null`,
      object({
        id: bare(sql`b.pull_request -> 'id'`),
        base: bare(sql`b.pull_request -> 'base'`),
        repository: bare(sql`b.pull_request -> 'repository'`),
      }),
    ),
    merge_queue: where(
      sql`b.host_event -> 'mergeQueue' <> 'null'`,
      object({ base_branch: bare(sql`b.host_event -> 'mergeQueue' -> 'baseBranch'`) }),
    ),
    rebuilt_from: where(
      sql`b.rebuilt_from is not null`,
      object({
        id: bare(sql`b.rebuilt_from -> 'id'`),
        number: bare(sql`b.rebuilt_from -> 'number'`),
        url: word(sql`at.builds || (b.rebuilt_from ->> 'number')`),
      }),
    ),
    triggered_from: where(
      sql`b.triggered_from is not null`,
      object({
        build_id: bare(sql`b.triggered_from -> 'build_id'`),
        build_number: bare(sql`b.triggered_from -> 'build_number'`),
        build_pipeline_slug: bare(sql`b.triggered_from -> 'build_pipeline_slug'`),
      }),
    ),
  },
  fieldWhere(
    sql`b.worked_seconds > 0`,
    'worked_before_seconds',
    bare(sql`round(b.worked_seconds::numeric, 3)`),
  ),
  fieldWhere(sql`b.found_by is not null`, 'found_by', word(sql`b.found_by`)),
  fieldWhere(sql`b.found_by = 'trigger'`, 'trigger_name', bare(sql`b.host_event -> 'action'`)),
)
