// Which pipelines the list shows, and in which order.
import type { Pipeline, Trend } from './queries.ts'

export type Shown = 'all' | 'favorites' | 'failing'
export type Order = 'name' | 'last' | 'speed'

export interface PipelineSearch {
  q?: string
  show?: Exclude<Shown, 'all'>
  sort?: Exclude<Order, 'name'>
}

export function readSearch(search: Record<string, unknown>): PipelineSearch {
  const { q, show, sort } = search
  return {
    ...(typeof q === 'string' || typeof q === 'number' ? { q: String(q).slice(0, 200) } : {}),
    ...(show === 'favorites' || show === 'failing' ? { show } : {}),
    ...(sort === 'last' || sort === 'speed' ? { sort } : {}),
  }
}

type Named = Pick<Pipeline, 'id' | 'name' | 'slug' | 'viewer' | 'tags'>

/**
 * Favourites first, then by name: an order that does not depend on builds, so that no row moves by itself. Or, when somebody asks for
 * it, the newest build first or the slowest pipeline first.
 */
export function choosePipelines<Each extends Named>(
  pipelines: readonly Each[],
  trends: ReadonlyMap<string, OrderedTrend>,
  { q = '', show, sort }: PipelineSearch,
): Each[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  return pipelines
    .filter((each) =>
      words.every((word) => `${each.name} ${each.slug} ${each.tags.join(' ')}`.toLowerCase().includes(word)),
    )
    .filter((each) => show !== 'favorites' || isFavorite(each))
    .filter((each) => show !== 'failing' || isFailing(trends.get(each.id)))
    .toSorted(
      (a, b) =>
        (sort === undefined
          ? Number(isFavorite(b)) - Number(isFavorite(a))
          : rankOf(trends.get(b.id), sort) - rankOf(trends.get(a.id), sort)) ||
        a.name.localeCompare(b.name, undefined, { numeric: true, sensitivity: 'base' }),
    )
}

type OrderedTrend = Pick<Trend, 'builds'> & Partial<Pick<Trend, 'median_seconds'>>

/** Pipelines without builds come last. */
const rankOf = (trend: OrderedTrend | undefined, sort: 'last' | 'speed'): number =>
  (sort === 'last' ? trend?.builds.at(-1)?.created_at : trend?.median_seconds) ?? -1

export const isFavorite = ({ viewer }: Pick<Pipeline, 'viewer'>): boolean => viewer?.favorite === true

const ended = new Set(['passed', 'failed', 'failing'])

/** The last build that has a verdict failed. */
export function isFailing(trend: Pick<Trend, 'builds'> | undefined): boolean {
  const last = trend?.builds.findLast(({ state }) => ended.has(state))
  return last !== undefined && last.state !== 'passed'
}
