import { useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query'
import { showLabel } from '../../../parts/labels.ts'
import { SectionHead } from '../../../parts/settings/SectionHead.tsx'
import { NotLoaded } from '../../../parts/States.tsx'
import { Table } from '../../../parts/Table.tsx'
import { accessNames } from '../../team/queries.ts'
import type { PipelineAddress } from '../queries.ts'
import { listPeople } from './list-people.ts'
import { administratorsQuery, pipelineTeamsQuery, teamMembersQuery } from './queries.ts'

const levelNames = { ...accessNames, admin: 'Everything, as an administrator' }

/** Those whom the teams above let in, and the administrators. */
export function People({ address }: { address: PipelineAddress }) {
  const { org } = address
  const administrators = useQuery(administratorsQuery(org))
  const list = useInfiniteQuery(pipelineTeamsQuery(address))
  const teams = list.data?.pages.flatMap((page) => page.rows) ?? []
  const members = useQueries({ queries: teams.map(({ team }) => teamMembersQuery(org, team.id)) })
  const missing = [administrators, ...members].find(({ data }) => data === undefined)
  const rows = listPeople(
    administrators.data ?? [],
    teams.map(({ team, access_level: level }, index) => ({
      name: team.name,
      level,
      members: members[index]?.data ?? [],
    })),
  )
  return (
    <>
      <SectionHead title="People" />
      {missing !== undefined && <NotLoaded query={missing} rows={3} />}
      {missing === undefined && (
        <Table
          label="People with access"
          rows={rows}
          columns={[
            { head: 'Name', titleOf: ({ name }) => name, render: ({ name }) => name },
            { head: 'May', render: ({ level }) => levelNames[level] },
            {
              head: 'Through',
              look: 'aside',
              render: ({ through }) => through.map(showLabel).join(', '),
            },
          ]}
        />
      )}
    </>
  )
}
