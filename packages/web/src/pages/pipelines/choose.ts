// Which pipelines the list shows, and in which order.
import type { Pipeline, Trend } from './queries.ts'

export type Shown = 'all' | 'favorites' | 'failing'
export type Order = 'name' | 'last' | 'speed'

export interface PipelineSearch {
  q?: string
  show?: Exclude<Shown, 'all'>
  tag?: string
  sort?: Exclude<Order, 'name'>
}

export function readSearch(search: Record<string, unknown>): PipelineSearch {
  const { q, show, sort, tag } = search
  return {
    ...(typeof q === 'string' || typeof q === 'number' ? { q: String(q).slice(0, 200) } : {}),
    ...(show === 'favorites' || show === 'failing' ? { show } : {}),
    ...(typeof tag === 'string' || typeof tag === 'number' ? { tag: String(tag).slice(0, 128) } : {}),
    ...(sort === 'last' || sort === 'speed' ? { sort } : {}),
  }
}

type Named = Pick<Pipeline, 'id' | 'name' | 'slug' | 'favorite' | 'tags'>

/**
 * Favourites first, then by name: an order that does not depend on builds, so that no row moves by itself. Or, when somebody asks for
 * it, the newest build first or the slowest pipeline first.
 */
export function choosePipelines<Each extends Named>(
  pipelines: readonly Each[],
  trends: ReadonlyMap<string, OrderedTrend>,
  { q = '', show, tag, sort }: PipelineSearch,
): Each[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  return pipelines
    .filter((each) =>
      words.every((word) => `${each.name} ${each.slug} ${each.tags.join(' ')}`.toLowerCase().includes(word)),
    )
    .filter(({ tags }) => tag === undefined || tags.includes(tag))
    .filter((each) => show !== 'favorites' || each.favorite)
    .filter((each) => show !== 'failing' || isFailing(trends.get(each.id)))
    .toSorted(
      (a, b) =>
        (sort === undefined
          ? Number(b.favorite) - Number(a.favorite)
          : rankOf(trends.get(b.id), sort) - rankOf(trends.get(a.id), sort)) ||
        a.name.localeCompare(b.name, undefined, { numeric: true, sensitivity: 'base' }),
    )
}

/** The most used tags first, and always the one that is chosen. */
export function listTags(
  pipelines: ReadonlyArray<Pick<Pipeline, 'tags'>>,
  chosen: string | undefined,
  most: number,
): string[] {
  const uses = new Map<string, number>()
  for (const tag of pipelines.flatMap(({ tags }) => tags)) uses.set(tag, (uses.get(tag) ?? 0) + 1)
  const tags = [...uses]
    .toSorted(([a, usesOfA], [b, usesOfB]) => usesOfB - usesOfA || a.localeCompare(b))
    .map(([tag]) => tag)
    .slice(0, most)
  return chosen === undefined || tags.includes(chosen) ? tags : [...tags, chosen]
}

type OrderedTrend = Pick<Trend, 'builds'> & Partial<Pick<Trend, 'median_seconds'>>

/** Pipelines without builds come last. */
const rankOf = (trend: OrderedTrend | undefined, sort: 'last' | 'speed'): number =>
  (sort === 'last' ? trend?.builds.at(-1)?.created_at : trend?.median_seconds) ?? -1

const ended = new Set(['passed', 'failed', 'failing'])

/** The last build that has a verdict failed. */
export function isFailing(trend: Pick<Trend, 'builds'> | undefined): boolean {
  const last = trend?.builds.findLast(({ state }) => ended.has(state))
  return last !== undefined && last.state !== 'passed'
}
