import type { QueryClient } from '@tanstack/react-query'
import type { Answer } from '../api/call.ts'
import { keyOf } from '../api/queries.ts'
import type { PaletteEntry } from './palette-entries.ts'

const operation = 'GET /v2/organizations/{org}/pipelines/{pipeline}/builds/{build}'
const most = 20

/** The builds of the organization that this tab has shown a short while ago, the last one first. */
export const recentBuildEntries = (client: QueryClient, org: string | null): PaletteEntry[] =>
  client
    .getQueryCache()
    .findAll({ queryKey: keyOf(operation) })
    .sort((one, other) => other.state.dataUpdatedAt - one.state.dataUpdatedAt)
    .flatMap(({ queryKey, state }) => {
      const [, params] = queryKey as [string, { org: string; pipeline: string }]
      const build = state.data as Answer<typeof operation> | undefined
      if (build === undefined || params.org !== org) return []
      const { number, message } = build
      const to = `/${org}/${params.pipeline}/builds/${number}`
      const title = `${params.pipeline} #${number} ${message?.split('\n', 1)[0] ?? ''}`.trim()
      return [{ id: `recent ${to}`, title, subtitle: 'Recent build', icon: 'history' as const, to }]
    })
    .slice(0, most)
