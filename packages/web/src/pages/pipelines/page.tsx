import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useLive } from '../../api/live.ts'
import { Button, LinkButton } from '../../parts/Button.tsx'
import { Page } from '../../parts/Page.tsx'
import { Empty, Loading, Problem } from '../../parts/States.tsx'
import { organizationQuery } from '../../shell/queries.ts'
import { choosePipelines, listTags, type PipelineSearch } from './choose.ts'
import { PipelineFilter } from './PipelineFilter.tsx'
import { PipelineList } from './PipelineList.tsx'
import { pipelinesIn, trendsQuery } from './queries.ts'
import { useFavorite } from './use-favorite.ts'

/** Others are found by their name. */
const mostTags = 8

export function PipelinesPage() {
  const { org } = useParams({ from: '/$org' })
  const search = useSearch({ from: '/$org' })
  const navigate = useNavigate({ from: '/$org' })
  const { data: organization, error: refusal, isFetched } = useQuery(organizationQuery(org))
  // A refused stream asks for everything anew, so a stranger would see the refusal come and go.
  useLive(organization === undefined && isFetched ? null : org)
  const { data: trends, error, refetch } = useQuery(trendsQuery(org))
  const star = useFavorite(org)
  const pipelines = useMemo(() => trends && pipelinesIn(trends), [trends])
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
      title={`Pipelines of ${organization?.name ?? org}`}
      tabTitle={`Pipelines · ${organization?.name ?? org}`}
      actions={create}
    >
      <PipelineFilter
        search={search}
        tags={listTags(pipelines ?? [], search.tag, mostTags)}
        onChange={change}
      />
      {error !== null && pipelines === undefined && <Problem error={error} onRetry={() => void refetch()} />}
      {error === null && pipelines === undefined && <Loading look="list" />}
      {pipelines?.length === 0 && (
        <Empty title="No pipelines yet" action={create}>
          A pipeline says where the code is and which steps build it.
        </Empty>
      )}
      {pipelines !== undefined && pipelines.length > 0 && shown.length === 0 && (
        <Empty
          title={
            search.show === 'favorites' && !search.q && search.tag === undefined
              ? 'You have no favourites yet.'
              : 'No pipeline matches these filters.'
          }
          action={<Button onClick={() => change({})}>Clear filters</Button>}
        >
          {search.show === 'favorites' && 'The star beside a pipeline makes it a favourite.'}
        </Empty>
      )}
      {shown.length > 0 && (
        <PipelineList
          org={org}
          pipelines={shown}
          trends={trendOf}
          order={search.sort ?? 'name'}
          request={JSON.stringify(search)}
          onOrder={(order) => {
            const { sort: _, ...others } = search
            change({ ...others, ...(order === 'name' ? {} : { sort: order }) })
          }}
          onFavorite={(pipeline, isFavorite) => void star(pipeline, isFavorite)}
        />
      )}
    </Page>
  )
}
