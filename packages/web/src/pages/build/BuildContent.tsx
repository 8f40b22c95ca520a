import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import type { BuildAddress } from '../../api/addresses.ts'
import type { Schemas } from '../../api/operations.ts'
import type { JobTable } from '../../graph/jobs/job-table.ts'
import type { Job } from '../../graph/jobs/job.ts'
import { formatSort, parseSort } from '../../graph/jobs/sort-jobs.ts'
import { TableView } from '../../graph/table/TableView.tsx'
import { Loading } from '../../parts/States.tsx'
import { UnblockButton } from './job/UnblockButton.tsx'
import { Summary } from './Summary.tsx'
import { sameBuild, type BuildSearch } from './search.ts'
import type { Selection } from './selection.ts'

const GraphView = lazy(() =>
  import('../../graph/canvas/GraphView.tsx').then(({ GraphView }) => ({ default: GraphView })),
)
const WaterfallView = lazy(() =>
  import('../../graph/waterfall/WaterfallView.tsx').then(({ WaterfallView }) => ({ default: WaterfallView })),
)
const BuildTab = lazy(() => import('./tabs/BuildTab.tsx').then(({ BuildTab }) => ({ default: BuildTab })))

interface Props {
  address: BuildAddress
  build: Schemas['Build']
  table: JobTable
  search: BuildSearch
  selection: Selection
}

/** The chosen view of the jobs, or the tab in its place. */
export function BuildContent({ address, build, table, search, selection }: Props) {
  return (
    <Suspense fallback={<Loading />}>
      {search.tab === undefined ? (
        <JobView address={address} build={build} table={table} search={search} selection={selection} />
      ) : (
        <BuildTab tab={search.tab} address={address} build={build} table={table} selection={selection} />
      )}
    </Suspense>
  )
}

function JobView({
  address,
  build,
  table,
  search,
  selection,
}: Pick<Props, 'address' | 'build' | 'table' | 'search' | 'selection'>) {
  const navigate = useNavigate()
  const change = (changes: BuildSearch) =>
    void navigate({ ...sameBuild, search: (before) => ({ ...before, ...changes }), replace: true })
  const select = (job: string) => selection.select(job)
  const unblock = ({ id, state }: Job) => (
    <UnblockButton address={{ ...address, job: id }} state={state} onOpen={() => select(id)} />
  )
  const common = { table, selectedJob: selection.job, onSelect: select }
  const filtered = {
    filter: search.filter ?? '',
    onFilter: (filter: string) => change({ filter: filter === '' ? undefined : filter }),
  }
  if (search.view === 'graph') return <GraphView {...common} />
  if (search.view === 'waterfall') return <WaterfallView {...common} {...filtered} />
  if (search.view === 'table') {
    return (
      <TableView
        {...common}
        {...filtered}
        sort={parseSort(search.sort)}
        onSort={(sort) => change({ sort: formatSort(sort) })}
      />
    )
  }
  return <Summary address={address} build={build} {...common} actionFor={unblock} />
}
