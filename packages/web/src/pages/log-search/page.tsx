import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Page } from '../../parts/Page.tsx'
import { Results } from './Results.tsx'
import { SearchForm } from './SearchForm.tsx'
import { isSearchable, type LogSearch } from './search.ts'

export function LogSearchPage() {
  const { org } = useParams({ from: '/organizations/$org/log-search' })
  const search = useSearch({ from: '/organizations/$org/log-search' })
  const navigate = useNavigate({ from: '/organizations/$org/log-search' })
  const change = (next: LogSearch) => void navigate({ search: next })
  const key = JSON.stringify(search)
  return (
    <Page title="Search logs" subtitle="Rows in the logs of all builds that you may read, newest first.">
      <SearchForm key={`form ${key}`} search={search} onSearch={change} />
      {isSearchable(search) && (
        <Results
          key={`results ${key}`}
          org={org}
          search={search}
          onSearchAll={() => change({ ...search, in: 'logs' })}
        />
      )}
    </Page>
  )
}
