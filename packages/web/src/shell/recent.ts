import type { QueryClient } from '@tanstack/react-query'
import type { Answer } from '../api/call.ts'
import { keyOf } from '../api/queries.ts'
import { showLabel } from '../parts/labels.ts'
import type { PaletteEntry } from './palette-entries.ts'

const buildOperation = 'GET /v2/organizations/{org}/pipelines/{pipeline}/builds/{build}'
const pipelineOperation = 'GET /v2/organizations/{org}/pipelines/{pipeline}'
const mostBuilds = 20
const mostPipelines = 8

/** The builds of the organization that this tab has shown a short while ago, the last one first. */
export const recentBuildEntries = (client: QueryClient, org: string | null): PaletteEntry[] =>
  client
    .getQueryCache()
    .findAll({ queryKey: keyOf(buildOperation) })
    .sort((one, other) => other.state.dataUpdatedAt - one.state.dataUpdatedAt)
    .flatMap(({ queryKey, state }) => {
      const [, params] = queryKey as [string, { org: string; pipeline: string }]
      const build = state.data as Answer<typeof buildOperation> | undefined
      if (build === undefined || params.org !== org) return []
      const { number, message } = build
      const to = `/${org}/${params.pipeline}/builds/${number}`
      const title = `${params.pipeline} #${number} ${showLabel(message?.split('\n', 1)[0] ?? '')}`.trim()
      return [{ id: `recent ${to}`, title, subtitle: 'Recent build', icon: 'history' as const, to }]
    })
    .slice(0, mostBuilds)

/** The pipelines of the organization that this tab has shown a short while ago, the last one first. */
export const recentPipelineEntries = (client: QueryClient, org: string | null): PaletteEntry[] =>
  client
    .getQueryCache()
    .findAll({ queryKey: keyOf(pipelineOperation) })
    .sort((one, other) => other.state.dataUpdatedAt - one.state.dataUpdatedAt)
    .flatMap(({ queryKey, state }) => {
      const [, params] = queryKey as [string, { org: string; pipeline: string }]
      const pipeline = state.data as Answer<typeof pipelineOperation> | undefined
      if (pipeline === undefined || params.org !== org) return []
      const to = `/${org}/${pipeline.slug}`
      const title = showLabel(pipeline.name)
      return [{ id: `recent ${to}`, title, subtitle: 'Recent pipeline', icon: 'workflow' as const, to }]
    })
    .slice(0, mostPipelines)
