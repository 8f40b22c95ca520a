import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { showLabel } from '../../parts/labels.ts'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/time/Time.tsx'
import { archivedCountsQuery } from '../archived-builds/queries.ts'
import { formatSize } from '../build/tabs/sizes.ts'

/** The pipelines that have archived builds. */
export function ArchivedCounts({ org }: { org: string }) {
  const list = useInfiniteQuery(archivedCountsQuery(org))
  const rows = list.data?.pages.flatMap((page) => page.rows)
  if (rows === undefined) return <NotLoaded query={list} />
  if (rows.length === 0)
    return (
      <Empty title="No archived builds">
        Retention archives builds when their days in the database are over. Then their pipelines are listed
        here.
      </Empty>
    )
  return (
    <>
      <Table
        label="Archived builds by pipeline"
        rows={rows.map((row) => ({ ...row, id: row.pipeline_id }))}
        columns={[
          {
            head: 'Pipeline',
            titleOf: ({ pipeline_name: name }) => name,
            render: ({ pipeline_name: name, pipeline_slug: pipeline }) => (
              <Link to="/$org/$pipeline/archived_builds" params={{ org, pipeline }}>
                {showLabel(name)}
              </Link>
            ),
          },
          { head: 'Builds', look: 'number', render: ({ builds_count: count }) => count.toLocaleString() },
          { head: 'Logs', look: 'number', render: ({ logs_count: count }) => count.toLocaleString() },
          { head: 'Size', look: 'number', render: ({ size }) => formatSize(size) },
          { head: 'From', look: 'aside', render: ({ oldest_created_at: at }) => <Time at={at} /> },
          { head: 'To', look: 'aside', render: ({ newest_created_at: at }) => <Time at={at} /> },
        ]}
      />
      <ShowMore list={list} />
    </>
  )
}
