import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useLive } from '../../api/live.ts'
import { Button, LinkButton } from '../../parts/Button.tsx'
import { Page } from '../../parts/Page.tsx'
import { Empty, Loading, Problem } from '../../parts/States.tsx'
import { showFailure } from '../../parts/toasts/toasts.ts'
import { organizationQuery } from '../../shell/queries.ts'
import { choosePipelines, type PipelineSearch } from './choose.ts'
import { PipelineFilter } from './PipelineFilter.tsx'
import { PipelineList } from './PipelineList.tsx'
import { pipelinesQuery, setFavorite, trendsQuery, type Pipeline } from './queries.ts'

export function PipelinesPage() {
  const { org } = useParams({ from: '/$org' })
  useLive(org)
  const search = useSearch({ from: '/$org' })
  const navigate = useNavigate({ from: '/$org' })
  const { data: organization, error: refusal } = useQuery(organizationQuery(org))
  const { data: pipelines, error, refetch } = useQuery(pipelinesQuery(org))
  const { data: trends } = useQuery(trendsQuery(org))
  const star = useFavorite(org)
  const trendOf = useMemo(() => new Map((trends ?? []).map((trend) => [trend.pipeline_id, trend])), [trends])
  const shown = useMemo(() => choosePipelines(pipelines ?? [], trendOf, search), [pipelines, trendOf, search])
  const change = (next: PipelineSearch) => void navigate({ search: next, replace: true })
  const mayCreate = organization?.viewer?.may.create_pipelines === true
  const create = mayCreate && (
    <LinkButton kind="primary" icon="plus" to="/organizations/$org/pipelines/new" params={{ org }}>
      New pipeline
    </LinkButton>
  )
  if (organization === undefined && refusal !== null) return <Problem error={refusal} />
  return (
    <Page
      title={organization?.name ?? org}
      tabTitle={`Pipelines · ${organization?.name ?? org}`}
      actions={create}
    >
      <PipelineFilter search={search} onChange={change} />
      {error !== null && pipelines === undefined && <Problem error={error} onRetry={() => void refetch()} />}
      {error === null && pipelines === undefined && <Loading />}
      {pipelines?.length === 0 && (
        <Empty title="No pipelines yet" action={create}>
          A pipeline says where the code is and which steps build it.
        </Empty>
      )}
      {pipelines !== undefined && pipelines.length > 0 && shown.length === 0 && (
        <Empty
          title="No pipeline matches these filters."
          action={<Button onClick={() => change({})}>Clear filters</Button>}
        />
      )}
      {shown.length > 0 && (
        <PipelineList
          org={org}
          pipelines={shown}
          trends={trendOf}
          onFavorite={(pipeline, isFavorite) => void star(pipeline, isFavorite)}
        />
      )}
    </Page>
  )
}

/** Shown at once, and taken back with the server's words if it is refused. */
function useFavorite(org: string) {
  const queryClient = useQueryClient()
  const { queryKey } = pipelinesQuery(org)
  const show = (id: string, favorite: boolean) =>
    queryClient.setQueryData(queryKey, (before: Pipeline[] | undefined) =>
      before?.map((each) =>
        each.id === id && each.viewer !== undefined
          ? { ...each, viewer: { ...each.viewer, favorite } }
          : each,
      ),
    )
  return async ({ id }: Pipeline, isFavorite: boolean) => {
    show(id, isFavorite)
    try {
      await setFavorite(id, isFavorite)
    } catch (error) {
      show(id, !isFavorite)
      showFailure(error)
    }
  }
}
