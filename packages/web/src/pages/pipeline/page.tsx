import { showLabel } from '../../parts/labels.ts'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Fragment, useState } from 'react'
import { useLive } from '../../api/live.ts'
import { pipelineQuery } from '../../api/resource-queries.ts'
import { Button, LinkButton } from '../../parts/Button.tsx'
import { Copy } from '../../parts/Copy.tsx'
import { useKeys } from '../../parts/keys.ts'
import { Mark } from '../../parts/mark/Mark.tsx'
import { Page } from '../../parts/Page.tsx'
import { Empty, Problem } from '../../parts/States.tsx'
import { userQuery } from '../../shell/queries.ts'
import { ArchivedLink } from '../archived-builds/ArchivedLink.tsx'
import { BuildList } from '../builds/BuildList.tsx'
import { FilterBar } from '../builds/FilterBar.tsx'
import { hasFilters, type BuildFilters } from '../builds/filters.ts'
import { buildsOfPipelineQuery } from '../builds/queries.ts'
import { trendQuery } from '../pipelines/queries.ts'
import { StarButton } from '../pipelines/StarButton.tsx'
import { TrendBars } from '../pipelines/TrendBars.tsx'
import { TrendFacts } from '../pipelines/TrendFacts.tsx'
import { useFavorite } from '../pipelines/use-favorite.ts'
import { NewBuildDialog } from './NewBuildDialog.tsx'

export function PipelinePage() {
  const { org, pipeline: slug } = useParams({ from: '/$org/$pipeline' })
  useLive(org)
  const filters = useSearch({ from: '/$org/$pipeline' })
  const navigate = useNavigate({ from: '/$org/$pipeline' })
  const { data: user } = useQuery(userQuery())
  const { data: pipeline, error } = useQuery(pipelineQuery(org, slug))
  const builds = useInfiniteQuery(buildsOfPipelineQuery(org, slug, filters, user?.id))
  const star = useFavorite(org)
  const [isNewOpen, setNewOpen] = useState(false)
  const mayBuild = pipeline?.viewer?.may.build === true && pipeline.archived_at === null
  useKeys(mayBuild ? [{ keys: 'n', label: 'New build', run: () => setNewOpen(true) }] : [])
  const change = (next: BuildFilters) => void navigate({ search: next })
  if (error !== null) return <Problem error={error} />
  return (
    <Page
      title={pipeline?.name ?? slug}
      before={
        pipeline?.viewer !== undefined && (
          <>
            <StarButton
              name={showLabel(pipeline.name)}
              isStarred={pipeline.viewer.favorite}
              onStar={(isStarred) => void star(pipeline, isStarred)}
            />
            <Mark emoji={pipeline.emoji} color={pipeline.color} />
          </>
        )
      }
      subtitle={
        pipeline !== undefined && (
          <Subtitle
            description={pipeline.description}
            repository={pipeline.repository}
            tags={pipeline.tags}
            org={org}
          />
        )
      }
      actions={
        <>
          <LinkButton
            icon="chart-gantt"
            to="/organizations/$org/insights"
            params={{ org }}
            search={{ group: 'step', pipeline: slug }}
          >
            Insight
          </LinkButton>
          {pipeline?.viewer?.may.edit === true && (
            <LinkButton icon="settings" to="/$org/$pipeline/settings" params={{ org, pipeline: slug }}>
              Settings
            </LinkButton>
          )}
          {pipeline?.viewer?.may.edit === false && (
            <LinkButton icon="clock" to="/$org/$pipeline/settings/schedules" params={{ org, pipeline: slug }}>
              Schedules
            </LinkButton>
          )}
          {mayBuild && (
            <Button isWrite kind="primary" icon="play" onClick={() => setNewOpen(true)}>
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
            title="No builds"
            action={mayBuild && <Button onClick={() => setNewOpen(true)}>New build</Button>}
          >
            A push to the repository, a schedule or a person begins one.
          </Empty>
        }
      />
      {!builds.hasNextPage && !hasFilters(filters) && builds.data !== undefined && (
        <ArchivedLink org={org} pipeline={slug} />
      )}
      {isNewOpen && pipeline !== undefined && (
        <NewBuildDialog org={org} pipeline={pipeline} onClose={() => setNewOpen(false)} />
      )}
    </Page>
  )
}

interface SubtitleProps {
  org: string
  description: string
  repository: string
  tags: readonly string[]
}

const Subtitle = ({ org, description, repository, tags }: SubtitleProps) => (
  <>
    {description !== '' && <>{showLabel(description)} · </>}
    <code>{repository}</code> <Copy text={repository} label="repository" />
    {tags.map((tag, index) => (
      <Fragment key={tag}>
        {index === 0 ? ' · ' : ', '}
        <Link to="/$org" params={{ org }} search={{ tag }}>
          {tag}
        </Link>
      </Fragment>
    ))}
  </>
)

function LastBuilds({ org, pipeline }: { org: string; pipeline: string }) {
  const { data: trends } = useQuery(trendQuery(org, pipeline))
  const trend = trends?.[0]
  return trend === undefined || trend.builds.length === 0 ? null : (
    <div>
      <TrendBars org={org} trend={trend} size="strip" />
      <TrendFacts trend={trend} />
    </div>
  )
}
