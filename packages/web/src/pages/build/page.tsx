import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useEffect } from 'react'
import { onBuild, useLive } from '../../api/live.ts'
import type { BuildAddress } from '../../api/addresses.ts'
import type { Schemas } from '../../api/operations.ts'
import { pipelineQuery } from '../../api/resource-queries.ts'
import { Page } from '../../parts/Page.tsx'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { Loading, Problem } from '../../parts/States.tsx'
import { BuildActions } from './BuildActions.tsx'
import { BuildFacts } from './BuildFacts.tsx'
import { BuildTabs } from './BuildTabs.tsx'
import { BuildWorkspace } from './BuildWorkspace.tsx'
import { buildQuery, graphQuery, type LoadedGraph } from './queries.ts'
import { detailOf } from '../builds/build-facts.ts'
import { tabTitle, useStateIcon } from './tab-title.ts'
import { useAnnouncedState } from './use-announced-state.ts'
import { useCurrentCost } from './use-current-cost.ts'

const ArchivedBuild = lazy(() =>
  import('./archived/ArchivedBuild.tsx').then(({ ArchivedBuild }) => ({ default: ArchivedBuild })),
)

export function BuildPage() {
  const { org, pipeline, number } = useParams({ from: '/$org/$pipeline/builds/$number' })
  return <BuildAt key={`${org}/${pipeline}/${number}`} address={{ org, pipeline, build: Number(number) }} />
}

function BuildAt({ address }: { address: BuildAddress }) {
  const build = useQuery(buildQuery(address))
  const graph = useQuery(graphQuery(address))
  // An archived build has no graph.
  const error = build.error ?? (build.data === undefined ? null : graph.error)
  useLiveBuild(address, graph.data)
  useCurrentCost(address, graph.data?.watched.id)
  if (build.data?.archived_at !== undefined) {
    return (
      <Suspense fallback={<Loading />}>
        <ArchivedBuild address={address} build={build.data} title={titleOf(build.data)} />
      </Suspense>
    )
  }
  if (build.data !== undefined && graph.data !== undefined) {
    return <LoadedBuild address={address} build={build.data} graph={graph.data} />
  }
  const retry = () => {
    void build.refetch()
    void graph.refetch()
  }
  return (
    <Page title={`Build #${address.build}`}>
      {error === null ? <Loading /> : <Problem error={error} onRetry={retry} />}
    </Page>
  )
}

interface LoadedProps {
  address: BuildAddress
  build: Schemas['Build']
  graph: LoadedGraph
}

function LoadedBuild({ address, build, graph }: LoadedProps) {
  const search = useSearch({ from: '/$org/$pipeline/builds/$number' })
  const { data: pipeline } = useQuery(pipelineQuery(address.org, address.pipeline))
  useStateIcon(build)
  useAnnouncedState(build)
  const rights = {
    mayBuild: pipeline?.viewer?.may.build === true,
    allowsRebuilds: pipeline?.allow_rebuilds === true,
  }
  return (
    <Page
      title={titleOf(build)}
      tabTitle={tabTitle(build, address.pipeline)}
      isFixed
      before={<StateBadge kind="build" state={build.state} detail={detailOf(build)} />}
      actions={<BuildActions address={address} build={build} table={graph.table} {...rights} />}
      subtitle={<BuildFacts address={address} build={build} />}
    >
      <BuildTabs address={address} build={build} search={search} />
      <BuildWorkspace address={address} build={build} table={graph.table} search={search} {...rights} />
    </Page>
  )
}

/** The first line of the message; it may be long. */
function titleOf({ message, number }: Schemas['Build']): string {
  const [line = ''] = (message ?? '').trim().split('\n', 1)
  return line === '' ? `Build #${number}` : line
}

function useLiveBuild(address: BuildAddress, graph: LoadedGraph | undefined): void {
  const client = useQueryClient()
  const { org, pipeline, build } = address
  useLive(graph === undefined ? null : org, graph === undefined ? [] : [graph.watched])
  const id = graph?.watched.id
  const table = graph?.table
  useEffect(() => {
    if (id === undefined || table === undefined) return
    return onBuild(id, {
      onJob: (job) => table.change([job]),
      onStale: () =>
        void client.invalidateQueries({ queryKey: graphQuery({ org, pipeline, build }).queryKey }),
    })
  }, [id, table, client, org, pipeline, build])
}
