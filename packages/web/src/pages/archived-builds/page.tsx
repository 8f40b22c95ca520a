import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { pipelineQuery } from '../../api/resource-queries.ts'
import { showLabel } from '../../parts/labels.ts'
import { Page } from '../../parts/Page.tsx'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/time/Time.tsx'
import { formatSize } from '../build/tabs/sizes.ts'
import { countBuilds } from './count-builds.ts'
import { archivedBuildsQuery, archivedCountQuery } from './queries.ts'

export function ArchivedBuildsPage() {
  const { org, pipeline } = useParams({ from: '/$org/$pipeline/archived_builds' })
  const { data: found } = useQuery(pipelineQuery(org, pipeline))
  const { data: counts } = useQuery(archivedCountQuery(org, pipeline))
  const [count] = counts ?? []
  return (
    <Page
      title={`Archived builds of ${found?.name ?? pipeline}`}
      subtitle={
        count === undefined
          ? 'Builds whose days in the lists are over.'
          : `${countBuilds(count.builds_count)}, ${formatSize(count.size)} without logs. Their pages and kept logs can still be read.`
      }
    >
      <ArchivedBuilds org={org} pipeline={pipeline} />
    </Page>
  )
}

function ArchivedBuilds({ org, pipeline }: { org: string; pipeline: string }) {
  const list = useInfiniteQuery(archivedBuildsQuery(org, pipeline))
  const rows = list.data?.pages.flatMap((page) => page.rows)
  if (rows === undefined) return <NotLoaded query={list} />
  if (rows.length === 0)
    return (
      <Empty title="No archived builds">
        Retention archives builds when their days in the database are over. Then they are listed here.
      </Empty>
    )
  return (
    <>
      <Table
        label="Archived builds"
        rows={rows}
        columns={[
          {
            head: 'Message',
            titleOf: ({ message }) => message ?? undefined,
            render: ({ number, message }) => (
              <Link to="/$org/$pipeline/builds/$number" params={{ org, pipeline, number: String(number) }}>
                {showLabel(firstLine(message) ?? 'No message')}
              </Link>
            ),
          },
          { head: 'Number', look: 'number', render: ({ number }) => `#${number}` },
          { head: 'State', render: ({ state }) => <StateBadge kind="build" state={state} isQuiet /> },
          { head: 'Branch', look: 'muted', titleOf: ({ branch }) => branch, render: ({ branch }) => branch },
          { head: 'Commit', look: 'aside', render: ({ commit }) => <code>{commit.slice(0, 7)}</code> },
          { head: 'Jobs', look: 'number', render: ({ jobs_count: jobs }) => jobs.toLocaleString() },
          { head: 'Size', look: 'number', render: ({ size }) => formatSize(size) },
          { head: 'Created', look: 'muted', render: ({ created_at: at }) => <Time at={at} /> },
          { head: 'Archived', look: 'aside', render: ({ archived_at: at }) => <Time at={at} /> },
        ]}
      />
      <ShowMore list={list} />
    </>
  )
}

const firstLine = (message: string | null) => message?.trim().split('\n', 1)[0] || null
