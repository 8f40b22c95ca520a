import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Button } from '../../parts/Button.tsx'
import { showLabel } from '../../parts/labels.ts'
import { SectionHead } from '../../parts/settings/SectionHead.tsx'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { TimeOrNever } from '../../parts/time/Time.tsx'
import { showFailure, showToast } from '../../parts/toasts/toasts.ts'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import { ArchivedCounts } from './ArchivedCounts.tsx'
import { archive, archivedQuery, unarchive, type Pipeline } from './queries.ts'

export function ArchivePage() {
  const { org } = useParams({ from: '/organizations/$org/settings/archive' })
  return (
    <OrganizationSettings
      org={org}
      name="archive"
      subtitle="Archived pipelines are not built. Their builds and logs stay. Old builds of any pipeline are archived by retention."
    >
      <SectionHead title="Pipelines" />
      <Archived org={org} />
      <SectionHead title="Builds" />
      <ArchivedCounts org={org} />
    </OrganizationSettings>
  )
}

function Archived({ org }: { org: string }) {
  const queryClient = useQueryClient()
  const list = useInfiniteQuery(archivedQuery(org))
  const rows = list.data?.pages.flatMap((page) => page.rows)
  if (rows === undefined) return <NotLoaded query={list} />
  if (rows.length === 0)
    return (
      <Empty title="No archived pipelines">
        The settings of a pipeline have “Archive or delete”. Archived ones are listed here.
      </Empty>
    )
  const takeBack = async ({ slug, name }: Pipeline) => {
    try {
      await unarchive(org, slug)
      const undo = () =>
        void archive(org, slug)
          .then(() => queryClient.invalidateQueries())
          .catch(showFailure)
      showToast(`${name} is back.`, { undo })
    } catch (error) {
      showFailure(error)
    }
    await queryClient.invalidateQueries()
  }
  return (
    <>
      <Table
        label="Archived pipelines"
        rows={rows}
        columns={[
          {
            head: 'Name',
            titleOf: ({ name }) => name,
            render: ({ name, slug }) => (
              <Link to="/$org/$pipeline" params={{ org, pipeline: slug }}>
                {showLabel(name)}
              </Link>
            ),
          },
          { head: 'Description', look: 'aside', render: ({ description }) => description },
          { head: 'Archived', look: 'muted', render: ({ archived_at: at }) => <TimeOrNever at={at} /> },
        ]}
        renderAction={(pipeline) =>
          pipeline.viewer?.may.edit === true && (
            <Button
              aria-label={`Unarchive ${showLabel(pipeline.name)}`}
              onClick={() => void takeBack(pipeline)}
            >
              Unarchive
            </Button>
          )
        }
      />
      <ShowMore list={list} />
    </>
  )
}
