import type { Static } from 'typebox'
import { presentRunOutline } from './present-run.ts'
import type { FiguresRow } from './figures.ts'
import type { SuiteFigures } from './schema.ts'

/** Nothing where they were not asked for. */
export function presentFigures(
  url: string,
  orgSlug: string,
  suiteSlug: string,
  row: FiguresRow | undefined,
): { figures?: Static<typeof SuiteFigures> } {
  if (row === undefined) return {}
  const { suite_id: _, last_run: run, ...figures } = row
  return {
    figures: {
      ...figures,
      last_run: run === null ? null : presentRunOutline(url, orgSlug, { ...run, suite_slug: suiteSlug }),
    },
  }
}
