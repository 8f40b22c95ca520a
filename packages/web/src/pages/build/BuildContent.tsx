import { useNavigate } from '@tanstack/react-router'
import type { Schemas } from '../../api/operations.ts'
import type { JobTable } from '../../graph/job-table.ts'
import type { Job } from '../../graph/job.ts'
import { formatSort, parseSort } from '../../graph/sort-jobs.ts'
import { SummaryView } from '../../graph/SummaryView.tsx'
import { TableView } from '../../graph/TableView.tsx'
import { Button } from '../../parts/Button.tsx'
import type { BuildPlace } from './queries.ts'
import type { BuildSearch } from './search.ts'
import type { Selection } from './selection.ts'

interface Props {
  place: BuildPlace
  build: Schemas['Build']
  table: JobTable
  search: BuildSearch
  selection: Selection
}

export function BuildContent({ table, search, selection }: Props) {
  const navigate = useNavigate()
  const change = (changes: BuildSearch) =>
    void navigate({
      to: '.',
      search: (before) => ({ ...before, ...changes }),
      hash: true,
      replace: true,
      resetScroll: false,
      hashScrollIntoView: false,
    })
  const select = (job: string) => selection.select(job)
  const common = { table, selectedJob: selection.job, onSelect: select }
  if (search.view === 'table') {
    return (
      <TableView
        {...common}
        filter={search.filter ?? ''}
        onFilter={(filter) => change({ filter })}
        sort={parseSort(search.sort)}
        onSort={(sort) => change({ sort: formatSort(sort) })}
      />
    )
  }
  const unblock = ({ id }: Job) => <Button onClick={() => select(id)}>Unblock…</Button>
  return <SummaryView {...common} actionFor={unblock} />
}
