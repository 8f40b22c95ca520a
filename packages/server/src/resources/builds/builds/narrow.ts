// No index has the builds of some filters in the list's order: branch patterns, and the time of the end. With such a
// filter the list would be read to its end where few builds match. A quick query first finds out whether few do.
import { sql } from 'kysely'
import type { Db } from '../../../db/pool.ts'
import type { Range } from './listed-builds.ts'
import type { BuildFilter } from './rules.ts'

/** At most this many names are read, with one index probe each, ... */
const mostNames = 2000
/** ... and at most this many matching ones are read from the index one by one. */
const mostFitting = 20
/** Up to this many builds are sorted instead of found along the list. */
const fewBuilds = 500

/** A filter for the same builds that is quicker to evaluate. */
export async function narrow(db: Db, ranges: readonly Range[], filter: BuildFilter): Promise<BuildFilter> {
  if (filter.branchPatterns === null && filter.finishedFrom === null) return filter
  const [branches, fewFinished] = await Promise.all([
    filter.branchPatterns === null ? null : findBranches(db, ranges, filter.branchPatterns),
    filter.finishedFrom !== null && hasFewFinished(db, ranges, filter.finishedFrom),
  ])
  return {
    ...filter,
    fewFinished,
    ...(branches === null ? {} : { branches, branchPatterns: null }),
  }
}

/** null: too many. */
async function findBranches(
  db: Db,
  ranges: readonly Range[],
  patterns: readonly string[],
): Promise<string[] | null> {
  const found = await Promise.all(ranges.map((range) => branchesIn(db, range, patterns)))
  const names = new Set(found.flatMap((list) => list ?? []))
  return found.includes(null) || names.size > mostFitting ? null : [...names]
}

async function branchesIn(
  db: Db,
  { kind, ids }: Range,
  patterns: readonly string[],
): Promise<string[] | null> {
  const owner = kind === 'organizations' ? sql`b.organization_id` : sql`b.pipeline_id`
  // Skips from one name to the next, however many builds each has.
  const { rows } = await sql<{ branch: string; fits: boolean }>`
    with recursive names as (
      select o.id, (select min(b.branch) from builds b where ${owner} = o.id) as branch
      from unnest(${ids}::uuid[]) as o (id)
      union all
      select n.id, (select min(b.branch) from builds b where ${owner} = n.id and b.branch > n.branch)
      from names n where n.branch is not null
    )
    select branch, branch like any (${patterns}::text[]) as fits from names
    where branch is not null limit ${sql.lit(mostNames + 1)}`.execute(db)
  return rows.length > mostNames ? null : rows.filter(({ fits }) => fits).map(({ branch }) => branch)
}

async function hasFewFinished(db: Db, ranges: readonly Range[], from: string): Promise<boolean> {
  const organizationIds = ranges.flatMap((range) =>
    range.kind === 'organizations' ? range.ids : range.organizationIds,
  )
  const { rows } = await sql<{ count: number }>`
    select count(*) from (
      select from builds b join unnest(${[...new Set(organizationIds)]}::uuid[]) as o (id) on b.organization_id = o.id
      where b.finished_at >= ${from}::timestamptz limit ${sql.lit(fewBuilds + 1)}
    ) found`.execute(db)
  return (rows[0]?.count ?? 0) <= fewBuilds
}
