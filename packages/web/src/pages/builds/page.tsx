import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { Page } from '../../parts/Page.tsx'
import { Empty } from '../../parts/States.tsx'
import { userQuery } from '../../shell/queries.ts'
import { BuildList } from './BuildList.tsx'
import { FilterBar } from './FilterBar.tsx'
import { hasFilters, type BuildFilters } from './filters.ts'
import { buildsQuery } from './queries.ts'

export function BuildsPage() {
  const { org } = useParams({ from: '/organizations/$org/builds' })
  useLive(org)
  const filters = useSearch({ from: '/organizations/$org/builds' })
  const navigate = useNavigate({ from: '/organizations/$org/builds' })
  const { data: user } = useQuery(userQuery())
  const builds = useInfiniteQuery({
    ...buildsQuery(org, filters, user?.id),
    enabled: filters.creator !== 'me' || user !== undefined,
  })
  const change = (next: BuildFilters) => void navigate({ search: next })
  return (
    <Page title={filters.creator === 'me' ? 'My builds' : 'Builds'}>
      <FilterBar filters={filters} onChange={change} />
      <BuildList
        org={org}
        builds={builds}
        withPipeline
        isFiltered={hasFilters(filters)}
        onClearFilters={() => change({})}
        empty={<Empty title="No builds yet">Builds of all pipelines appear here as they begin.</Empty>}
      />
    </Page>
  )
}
