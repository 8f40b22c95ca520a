import { Link } from '@tanstack/react-router'
import { SectionHead } from '../../parts/settings/SectionHead.tsx'
import { Empty } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/time/Time.tsx'
import { formatSize } from '../build/tabs/sizes.ts'
import type { Preview } from './queries.ts'

const parts = [
  ['builds', 'Builds'],
  ['logs', 'Logs'],
  ['artifacts', 'Files of artifacts'],
  ['archived_builds', 'Archives of builds'],
  ['test_runs', 'Test runs without a build'],
] as const

const sizeOf = (part: { blob_bytes: number; database_bytes: number }) =>
  formatSize(part.blob_bytes + part.database_bytes)

/** What would be deleted now. */
export function PreviewTable({ org, preview }: { org: string; preview: Preview }) {
  const rows = parts.map(([id, name]) => ({ id, name, ...preview[id] })).filter(({ count }) => count > 0)
  if (rows.length === 0)
    return (
      <Empty title="Nothing would be deleted now.">
        Nothing is old enough. What becomes old enough later is deleted then.
      </Empty>
    )
  return (
    <>
      <SectionHead title="What would be deleted now" />
      <Table
        label="What would be deleted now"
        rows={rows}
        columns={[
          { head: 'What', render: ({ name }) => name },
          { head: 'Number', look: 'number', render: ({ count }) => count.toLocaleString() },
          { head: 'About', look: 'number', render: sizeOf },
          {
            head: 'Ended from',
            look: 'aside',
            render: ({ oldest }) => oldest !== null && <Time at={oldest} />,
          },
          {
            head: 'Ended until',
            look: 'aside',
            render: ({ newest }) => newest !== null && <Time at={newest} />,
          },
        ]}
      />
      <Table
        label="By pipeline"
        rows={preview.pipelines}
        columns={[
          {
            head: 'Pipeline',
            render: ({ slug }) => (
              <Link to="/$org/$pipeline" params={{ org, pipeline: slug }}>
                {slug}
              </Link>
            ),
          },
          { head: 'Builds', look: 'number', render: ({ builds }) => builds.count.toLocaleString() },
          { head: 'Logs', look: 'number', render: ({ logs }) => logs.count.toLocaleString() },
          { head: 'Files', look: 'number', render: ({ artifacts }) => artifacts.count.toLocaleString() },
        ]}
      />
    </>
  )
}
