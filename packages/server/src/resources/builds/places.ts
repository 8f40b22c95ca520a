// Which builds stand on a page of a list. Only ids and places are read here, in the order of one index, so a page
// costs the same however many builds there are; build-json.ts writes them out.
//
// A list may range over several organizations or pipelines, and a filter may name several values. Each combination
// is read from its own stretch of an index, at most as far as the page reaches, and the stretches are merged. The
// text of the statement depends only on which filter leads; absent ones vanish when it is planned.
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/pool.ts'
import { isOnPausedQueue } from '../jobs/job-json.ts'
import type { BuildFilter, StateFilter } from './rules.ts'

export type Range =
  /** Whole organizations; `within`: only these pipelines of theirs. */
  | { kind: 'organizations'; ids: readonly string[]; within: readonly string[] | null }
  /** Single pipelines, each with its organization at the same place. */
  | { kind: 'pipelines'; ids: readonly string[]; organizationIds: readonly string[] }

export interface Place {
  id: string
  organization_id: string
  pipeline_id: string
  created_at: string
  /** How many jobs it ever had. */
  jobs: number
}

export interface Window {
  limit: number
  offset: number
  after: { at: string; id: string } | null
}

export async function listPlaces(
  db: Db,
  ranges: readonly Range[],
  filter: BuildFilter,
  window: Window,
): Promise<Place[]> {
  const stretches = ranges
    .filter(({ ids }) => ids.length > 0)
    .flatMap((range) => leadersOf(filter).map((leader) => stretch(range, leader, filter, window)))
  if (stretches.length === 0) return []
  const { rows } = await sql<Place>`
    select page.id, page.organization_id, page.pipeline_id, page.created_at, t.jobs
    from (
      select * from (${sql.join(stretches, sql` union all `)}) found
      order by found.created_at desc, found.id desc limit ${window.limit} offset ${window.offset}
    ) page
    join build_tallies t on t.build_id = page.id
    order by page.created_at desc, page.id desc`.execute(db)
  return rows
}

/** The filter whose index is read: from which tables, and what a build must be for one of its values. */
interface Leader {
  values: RawBuilder<unknown>
  source: RawBuilder<unknown>
  condition: RawBuilder<unknown>
  at: RawBuilder<unknown>
  id: RawBuilder<unknown>
}

const plain: Leader = {
  values: sql``,
  source: sql`builds b`,
  condition: sql`true`,
  at: sql`b.created_at`,
  id: sql`b.id`,
}

/** Builds pass quickly through some states, so few are in them; of the rest, what names fewest builds leads. */
function leadersOf(filter: BuildFilter): Leader[] {
  const { states, commits, metaData, creatorId, branches, finishedFrom, fewFinished } = filter
  if (states?.isPassing) return stateLeaders(states)
  if (commits !== null) return [byColumn('commit', commits)]
  if (fewFinished) return [{ ...plain, source: finishedSince(finishedFrom) }]
  if (metaData[0] !== undefined) return [byMetaData(metaData[0])]
  if (creatorId !== null) return [{ ...plain, condition: sql`b.creator_id = ${creatorId}` }]
  if (branches !== null) return [byColumn('branch', branches)]
  return states === null ? [plain] : stateLeaders(states)
}

const byColumn = (column: 'branch' | 'commit' | 'shown_state', values: readonly string[]): Leader => ({
  ...plain,
  values: sql`cross join unnest(${[...new Set(values)]}::text[]) as wanted (value)`,
  condition: sql`${sql.ref(`b.${column}`)} = wanted.value`,
})

const stateLeaders = ({ shown, blocked }: StateFilter): Leader[] => [
  byColumn('shown_state', shown),
  ...(blocked
    ? [{ ...plain, condition: sql`b.state = 'blocked' and b.shown_state <> all (${shown}::text[])` }]
    : []),
]

/** Without the offset, PostgreSQL would read along the list all the same. */
const finishedSince = (from: string | null) => sql`(
  select * from builds f
  where f.organization_id = owner.organization_id and f.finished_at >= ${from}::timestamptz offset 0
) b`

/** Meta-data repeats the build's time, so that its own index is in the list's order. */
const byMetaData = ([key, value]: readonly [string, string]): Leader => ({
  values: sql``,
  source: sql`build_meta_data lead join builds b on b.id = lead.build_id`,
  condition: sql`lead.organization_id = owner.organization_id
    and lead.key = ${key} and md5(lead.value) = md5(${value}) and lead.value = ${value}`,
  at: sql`lead.created_at`,
  id: sql`lead.build_id`,
})

function stretch(
  range: Range,
  { values, source, condition, at, id }: Leader,
  filter: BuildFilter,
  { limit, offset, after }: Window,
): RawBuilder<unknown> {
  return sql`
    select found.* from ${ownersOf(range)} ${values} cross join lateral (
      select b.id, b.organization_id, b.pipeline_id, b.created_at
      from ${source}
      where b.organization_id = owner.organization_id and ${belongsTo(range)} and ${condition}
        and ${at} >= coalesce(${filter.createdFrom}::timestamptz, '-infinity')
        and ${at} < coalesce(${filter.createdTo}::timestamptz, 'infinity')
        and (${at}, ${id}) < (coalesce(${after?.at ?? null}::timestamptz, 'infinity'),
          coalesce(${after?.id ?? null}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
        and ${remaining(filter)}
      order by ${at} desc, ${id} desc limit ${offset + limit}
    ) found`
}

const ownersOf = (range: Range): RawBuilder<unknown> =>
  range.kind === 'organizations'
    ? sql`unnest(${range.ids}::uuid[]) as owner (organization_id)`
    : sql`unnest(${range.organizationIds}::uuid[], ${range.ids}::uuid[]) as owner (organization_id, pipeline_id)`

const belongsTo = (range: Range): RawBuilder<unknown> =>
  range.kind === 'organizations'
    ? sql`(${range.within}::uuid[] is null or b.pipeline_id = any (${range.within}::uuid[]))`
    : sql`b.pipeline_id = owner.pipeline_id`

/** Every filter, whether it leads or not. */
function remaining(filter: BuildFilter): RawBuilder<unknown> {
  const { branches, branchPatterns, commits, states, finishedFrom, creatorId, metaData } = filter
  const [keys, values] = [metaData.map(([key]) => key), metaData.map(([, value]) => value)]
  return sql`
    (${branches}::text[] is null or b.branch = any (${branches}::text[]))
    and (${branchPatterns}::text[] is null or b.branch like any (${branchPatterns}::text[]))
    and (${commits}::text[] is null or b.commit = any (${commits}::text[]))
    and (${states?.shown ?? null}::text[] is null or b.shown_state = any (${states?.shown ?? null}::text[])
      or (${states?.blocked ?? false} and b.state = 'blocked'))
    and (${finishedFrom}::timestamptz is null or b.finished_at >= ${finishedFrom}::timestamptz)
    and (${creatorId}::uuid is null or b.creator_id = ${creatorId}::uuid)
    and (${metaData.length} = 0 or not exists (
      select from unnest(${keys}::text[], ${values}::text[]) as asked (key, value)
      where not exists (
        select from build_meta_data m
        where m.build_id = b.id and m.key = asked.key and m.value = asked.value)))
    and (${filter.includePaused} or ${hasUnpausedJob})`
}

// Spec, Builds: a build is left out when all its jobs are on paused queues. A waiter is nobody's work.
const hasUnpausedJob = sql`(
  not exists (select from jobs j where j.build_id = b.id and ${isOnPausedQueue})
  or exists (select from jobs j where j.build_id = b.id and j.kind <> 'waiter' and not ${isOnPausedQueue}))`
