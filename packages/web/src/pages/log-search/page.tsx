import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Page } from '../../parts/Page.tsx'
import { Results } from './Results.tsx'
import { SearchForm } from './SearchForm.tsx'
import { useLogSearch } from './use-log-search.ts'
import type { LogSearch } from './search.ts'

export function LogSearchPage() {
  const { org } = useParams({ from: '/organizations/$org/log-search' })
  const search = useSearch({ from: '/organizations/$org/log-search' })
  const navigate = useNavigate({ from: '/organizations/$org/log-search' })
  const searched = useLogSearch(org, search)
  const change = (next: LogSearch) => void navigate({ search: next })
  return (
    <Page title="Search logs" subtitle="Rows in the logs of all builds that you may read, newest first.">
      <SearchForm key={JSON.stringify(search)} search={search} onSearch={change} />
      <Results
        org={org}
        searched={searched}
        isFailures={search.in !== 'logs'}
        onSearchAll={() => change({ ...search, in: 'logs' })}
      />
    </Page>
  )
}
