// Which pipelines the list shows, and in which order.
import type { Pipeline, Trend } from './queries.ts'

export type Shown = 'all' | 'favorites' | 'failing'

export interface PipelineSearch {
  q?: string
  show?: Exclude<Shown, 'all'>
}

export function readSearch(search: Record<string, unknown>): PipelineSearch {
  const { q, show } = search
  return {
    ...(typeof q === 'string' || typeof q === 'number' ? { q: String(q).slice(0, 200) } : {}),
    ...(show === 'favorites' || show === 'failing' ? { show } : {}),
  }
}

type Named = Pick<Pipeline, 'id' | 'name' | 'slug' | 'viewer'>

/** Favourites first, then by name. The order does not depend on builds, so that no row moves by itself. */
export function choosePipelines<Each extends Named>(
  pipelines: readonly Each[],
  trends: ReadonlyMap<string, Pick<Trend, 'builds'>>,
  { q = '', show }: PipelineSearch,
): Each[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  return pipelines
    .filter((each) => words.every((word) => `${each.name} ${each.slug}`.toLowerCase().includes(word)))
    .filter((each) => show !== 'favorites' || isFavorite(each))
    .filter((each) => show !== 'failing' || isFailing(trends.get(each.id)))
    .toSorted(
      (a, b) =>
        Number(isFavorite(b)) - Number(isFavorite(a)) ||
        a.name.localeCompare(b.name, undefined, { numeric: true, sensitivity: 'base' }),
    )
}

export const isFavorite = ({ viewer }: Pick<Pipeline, 'viewer'>): boolean => viewer?.favorite === true

const ended = new Set(['passed', 'failed', 'failing'])

/** The last build that has a verdict failed. */
export function isFailing(trend: Pick<Trend, 'builds'> | undefined): boolean {
  const last = trend?.builds.findLast(({ state }) => ended.has(state))
  return last !== undefined && last.state !== 'passed'
}
