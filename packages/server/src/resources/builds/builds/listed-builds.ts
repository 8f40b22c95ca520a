// Finds the builds of a page of a list. This reads only ids and positions, in the order of one index, so a page costs the
// same however many builds there are; build-json.ts renders them. Skipped rows are read from the index alone, unless a
// filter needs other columns.
//
// A list may range over several organizations or pipelines, and a filter may name several values. Each combination is
// read from its own part of an index, at most to the end of the page, and the parts are merged. The text of the statement
// depends only on the leading filter; the planner removes absent ones.
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../../db/pool.ts'
import { prepared } from '../../../db/statement.ts'
import { isOnPausedQueue } from '../../job/job-json.ts'
import type { BuildFilter, StateFilter } from './rules.ts'

export type Range =
  /** Whole organizations; `within`: only these pipelines of theirs. */
  | { kind: 'organizations'; ids: readonly string[]; within: readonly string[] | null }
  /** Single pipelines, each with its organization at the same index. */
  | { kind: 'pipelines'; ids: readonly string[]; organizationIds: readonly string[] }

export interface ListedBuild {
  id: string
  organization_id: string
  pipeline_id: string
  created_at: string
  /** The number of all its jobs. */
  jobs: number
}

export interface Window {
  limit: number
  offset: number
  after: { at: string; id: string } | null
}

export async function listIds(
  db: Db,
  ranges: readonly Range[],
  filter: BuildFilter,
  window: Window,
): Promise<ListedBuild[]> {
  const filled = ranges.filter(({ ids }) => ids.length > 0)
  // No branch matches the pattern, so no build does.
  if (filled.length === 0 || filter.branches?.length === 0) return []
  const values = asked(filled, filter, window)
  const stretches = filled.flatMap(({ kind }, index) =>
    leadersOf(filter).map((leader) => stretch(kind, index === 0 ? 0 : 1, leader, values)),
  )
  const { rows: found } = await sql<Pick<ListedBuild, 'id' | 'organization_id'>>`
    select found.id, found.organization_id from (${sql.join(stretches, sql` union all `)}) found
    order by found.created_at desc, found.id desc limit ${values.limit} offset ${values.offset}`.execute(db)
  if (found.length === 0) return []
  const { rows: listed } = await readListed(
    found.map(({ id }) => id),
    found.map((spot) => spot.organization_id),
  ).execute(db)
  return listed
}

/** A statement of its own, which is planned once: the list is planned every time, for the filters of the request. */
const readListed = prepared(
  (ids: readonly string[], organizationIds: readonly string[]) => sql<ListedBuild>`
    select b.id, b.organization_id, b.pipeline_id, b.created_at, t.jobs
    from unnest(${ids}::uuid[], ${organizationIds}::uuid[])
      with ordinality as found (id, organization_id, position)
    join builds b on b.id = found.id and b.organization_id = found.organization_id
    join build_tallies t on t.build_id = b.id
    order by found.position`,
)

type Leader = keyof typeof leaders
type Kind = Range['kind']

/** Few builds are in passing states, so those lead; otherwise the filter that matches the fewest builds leads. */
function leadersOf(filter: BuildFilter): Leader[] {
  const { states, commits, metaData, creatorId, branches, fewFinished } = filter
  if (states?.isPassing) return stateLeaders(states)
  if (commits !== null) return ['commit']
  if (fewFinished) return ['finished']
  if (metaData.length > 0) return ['metaData']
  if (creatorId !== null) return ['creator']
  if (branches !== null) return ['branch']
  return states === null ? ['plain'] : stateLeaders(states)
}

const stateLeaders = ({ blocked }: StateFilter): Leader[] => [
  'state',
  ...(blocked ? ['blocked' as const] : []),
]

/** The values of a statement. A list has two ranges at most. */
type Asked = ReturnType<typeof asked>

/** One literal: V8 gives an object that is merged from others a new shape each time, which only a full collection frees. */
function asked([first, second]: readonly Range[], filter: BuildFilter, { limit, offset, after }: Window) {
  const { branches, commits, states, metaData } = filter
  return {
    limit,
    offset,
    reach: offset + limit,
    afterAt: after?.at ?? null,
    afterId: after?.id ?? null,
    createdFrom: filter.createdFrom,
    createdTo: filter.createdTo,
    finishedFrom: filter.finishedFrom,
    creatorId: filter.creatorId,
    branches: branches && [...new Set(branches)],
    branchPatterns: filter.branchPatterns,
    commits: commits && [...new Set(commits)],
    states: states && [...new Set(states.shown)],
    isBlocked: states?.blocked ?? false,
    metaCount: metaData.length,
    metaKeys: metaData.map(([key]) => key),
    metaValues: metaData.map(([, value]) => value),
    metaKey: metaData[0]?.[0] ?? null,
    metaValue: metaData[0]?.[1] ?? null,
    includePaused: filter.includePaused,
    ids0: first?.ids ?? null,
    organizationIds0: organizationsOf(first),
    within0: withinOf(first),
    ids1: second?.ids ?? null,
    organizationIds1: organizationsOf(second),
    within1: withinOf(second),
  }
}

const organizationsOf = (range: Range | undefined) =>
  range?.kind === 'pipelines' ? range.organizationIds : null

const withinOf = (range: Range | undefined) => (range?.kind === 'organizations' ? range.within : null)

/** The first range or the second. */
type Turn = 0 | 1

/** The filter whose index is read: its tables, and the condition for one of its values. */
interface Leading {
  values: RawBuilder<unknown>
  source: RawBuilder<unknown>
  condition: RawBuilder<unknown>
  at: RawBuilder<unknown>
  id: RawBuilder<unknown>
}

const plain: Leading = {
  values: sql``,
  source: sql`builds b`,
  condition: sql`true`,
  at: sql`b.created_at`,
  id: sql`b.id`,
}

/** For indexes that begin with the organization. */
const inOrganization = sql`b.organization_id = owner.organization_id`

const byColumn = (column: string, values: readonly string[] | null): Leading => ({
  ...plain,
  values: sql`cross join unnest(${values}::text[]) as wanted (value)`,
  condition: sql`${sql.ref(`b.${column}`)} = wanted.value`,
})

const leaders = {
  plain: () => plain,
  commit: ({ commits }: Asked) => ({
    ...byColumn('commit', commits),
    condition: sql`${inOrganization} and b.commit = wanted.value`,
  }),
  branch: ({ branches }: Asked) => byColumn('branch', branches),
  state: ({ states }: Asked) => byColumn('shown_state', states),
  blocked: ({ states }: Asked) => ({
    ...plain,
    condition: sql`${inOrganization} and b.state = 'blocked' and b.shown_state <> all (${states}::text[])`,
  }),
  creator: ({ creatorId }: Asked) => ({
    ...plain,
    condition: sql`${inOrganization} and b.creator_id = ${creatorId}`,
  }),
  /** The offset keeps PostgreSQL from reading along the list. */
  finished: ({ finishedFrom }: Asked) => ({
    ...plain,
    source: sql`(
      select * from builds f
      where f.organization_id = owner.organization_id and f.finished_at >= ${finishedFrom}::timestamptz offset 0
    ) b`,
  }),
  /** Meta-data repeats the build's time, so that its own index is in the list's order. */
  metaData: ({ metaKey, metaValue }: Asked) => ({
    values: sql``,
    source: sql`build_meta_data lead join builds b on b.id = lead.build_id`,
    condition: sql`lead.organization_id = owner.organization_id
      and lead.key = ${metaKey} and md5(lead.value) = md5(${metaValue}) and lead.value = ${metaValue}`,
    at: sql`lead.created_at`,
    id: sql`lead.build_id`,
  }),
} satisfies Record<string, (asked: Asked) => Leading>

function stretch(kind: Kind, index: Turn, leader: Leader, values: Asked): RawBuilder<unknown> {
  const { values: leading, source, condition, at, id } = leaders[leader](values)
  return sql`
    select owner.organization_id, found.* from ${ownersOf(kind, index, values)} ${leading} cross join lateral (
      select ${id} as id, ${at} as created_at from ${source}
      where ${belongsTo(kind, index, values)} and ${condition}
        and ${at} >= coalesce(${values.createdFrom}::timestamptz, '-infinity')
        and ${at} < coalesce(${values.createdTo}::timestamptz, 'infinity')
        and (${at}, ${id}) < (coalesce(${values.afterAt}::timestamptz, 'infinity'),
          coalesce(${values.afterId}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
        and ${remaining(values)}
      order by ${at} desc, ${id} desc limit ${values.reach}
    ) found`
}

const ownersOf = (kind: Kind, index: Turn, values: Asked): RawBuilder<unknown> =>
  kind === 'organizations'
    ? sql`unnest(${values[`ids${index}`]}::uuid[]) as owner (organization_id)`
    : sql`unnest(${values[`organizationIds${index}`]}::uuid[], ${values[`ids${index}`]}::uuid[])
        as owner (organization_id, pipeline_id)`

/**
 * The pipelines were found in their organizations. The indexes by pipeline do not have the organization, so that a condition on
 * it would read every skipped build; `listIds` compares it for the builds of the page.
 */
function belongsTo(kind: Kind, index: Turn, values: Asked): RawBuilder<unknown> {
  if (kind === 'pipelines') return sql`b.pipeline_id = owner.pipeline_id`
  const within = values[`within${index}`]
  return sql`${inOrganization}
    and (${within}::uuid[] is null or b.pipeline_id = any (${within}::uuid[]))`
}

/** Every filter, whether it leads or not. */
const remaining = (values: Asked): RawBuilder<unknown> => sql`
  (${values.branches}::text[] is null or b.branch = any (${values.branches}::text[]))
  and (${values.branchPatterns}::text[] is null or b.branch like any (${values.branchPatterns}::text[]))
  and (${values.commits}::text[] is null or b.commit = any (${values.commits}::text[]))
  and (${values.states}::text[] is null or b.shown_state = any (${values.states}::text[])
    or (${values.isBlocked}::boolean and b.state = 'blocked'))
  and (${values.finishedFrom}::timestamptz is null or b.finished_at >= ${values.finishedFrom}::timestamptz)
  and (${values.creatorId}::uuid is null or b.creator_id = ${values.creatorId}::uuid)
  and (${values.metaCount}::int = 0 or not exists (
    select from unnest(${values.metaKeys}::text[], ${values.metaValues}::text[]) as asked (key, value)
    where not exists (
      select from build_meta_data m
      where m.build_id = b.id and m.key = asked.key and m.value = asked.value)))
  and (${values.includePaused}::boolean or ${hasUnpausedJob})`

// Spec, Builds: a build is left out when all its jobs are on paused queues. Waiters do not count.
const hasUnpausedJob = sql`(
  not exists (select from jobs j where j.build_id = b.id and ${isOnPausedQueue})
  or exists (select from jobs j where j.build_id = b.id and j.kind <> 'waiter' and not ${isOnPausedQueue}))`
