import { showLabel } from '../../parts/labels.ts'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useLive } from '../../api/live.ts'
import { pipelineQuery } from '../../api/resource-queries.ts'
import { Button, LinkButton } from '../../parts/Button.tsx'
import { Copy } from '../../parts/Copy.tsx'
import { useKeys } from '../../parts/keys.ts'
import { Page } from '../../parts/Page.tsx'
import { Empty, Problem } from '../../parts/States.tsx'
import { userQuery } from '../../shell/queries.ts'
import { BuildList } from '../builds/BuildList.tsx'
import { FilterBar } from '../builds/FilterBar.tsx'
import { hasFilters, type BuildFilters } from '../builds/filters.ts'
import { buildsOfPipelineQuery } from '../builds/queries.ts'
import { trendQuery } from '../pipelines/queries.ts'
import { TrendBars } from '../pipelines/TrendBars.tsx'
import { NewBuildDialog } from './NewBuildDialog.tsx'

export function PipelinePage() {
  const { org, pipeline: slug } = useParams({ from: '/$org/$pipeline' })
  useLive(org)
  const filters = useSearch({ from: '/$org/$pipeline' })
  const navigate = useNavigate({ from: '/$org/$pipeline' })
  const { data: user } = useQuery(userQuery())
  const { data: pipeline, error } = useQuery(pipelineQuery(org, slug))
  const builds = useInfiniteQuery(buildsOfPipelineQuery(org, slug, filters, user?.id))
  const [isNewOpen, setNewOpen] = useState(false)
  const mayBuild = pipeline?.viewer?.may.build === true && pipeline.archived_at === null
  useKeys(mayBuild ? [{ keys: 'n', label: 'New build', run: () => setNewOpen(true) }] : [])
  const change = (next: BuildFilters) => void navigate({ search: next })
  if (error !== null) return <Problem error={error} />
  return (
    <Page
      title={pipeline?.name ?? slug}
      subtitle={
        pipeline !== undefined && (
          <Subtitle description={pipeline.description} repository={pipeline.repository} />
        )
      }
      actions={
        <>
          {pipeline?.viewer?.may.edit === true && (
            <LinkButton
              icon="settings"
              to="/$org/$pipeline/settings/$section"
              params={{ org, pipeline: slug, section: 'steps' }}
            >
              Settings
            </LinkButton>
          )}
          {mayBuild && (
            <Button kind="primary" icon="play" onClick={() => setNewOpen(true)}>
              New build
            </Button>
          )}
        </>
      }
    >
      <LastBuilds org={org} pipeline={slug} />
      <FilterBar filters={filters} onChange={change} />
      <BuildList
        org={org}
        builds={builds}
        withPipeline={false}
        isFiltered={hasFilters(filters)}
        onClearFilters={() => change({})}
        empty={
          <Empty
            title="No builds yet"
            action={mayBuild && <Button onClick={() => setNewOpen(true)}>New build</Button>}
          >
            A push to the repository, a schedule or a person begins one.
          </Empty>
        }
      />
      {isNewOpen && pipeline !== undefined && (
        <NewBuildDialog org={org} pipeline={pipeline} onClose={() => setNewOpen(false)} />
      )}
    </Page>
  )
}

const Subtitle = ({ description, repository }: { description: string; repository: string }) => (
  <>
    {description !== '' && <>{showLabel(description)} · </>}
    <code>{repository}</code> <Copy text={repository} label="repository" />
  </>
)

function LastBuilds({ org, pipeline }: { org: string; pipeline: string }) {
  const { data: trends } = useQuery(trendQuery(org, pipeline))
  const trend = trends?.[0]
  return trend === undefined || trend.builds.length === 0 ? null : (
    <TrendBars org={org} trend={trend} size="strip" />
  )
}
