import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { Empty } from '../../parts/States.tsx'
import type { SuiteAddress } from '../suite/queries.ts'
import { TeamAccess } from '../teams/TeamAccess.tsx'
import { addSuite, deleteTeamSuite, suiteTeamsQuery, updateTeamSuite, type Level } from './queries.ts'

const levelNames = { read: 'Read it', edit: 'Change and delete it' } as const

export function SuiteTeams({ address, suiteId }: { address: SuiteAddress; suiteId: string }) {
  const { org } = address
  const queryClient = useQueryClient()
  const list = useInfiniteQuery(suiteTeamsQuery(address))
  const reload = () => queryClient.invalidateQueries({ queryKey: suiteTeamsQuery(address).queryKey })
  const add = async (team: string, level: Level = 'read') => {
    await addSuite({ org, team }, suiteId, level)
    await reload()
  }
  const change = async (team: string, level: Level) => {
    await updateTeamSuite({ org, team }, suiteId, level)
    await reload()
  }
  const remove = async (team: string) => {
    await deleteTeamSuite({ org, team }, suiteId)
    await reload()
  }
  return (
    <section>
      <TeamAccess
        org={org}
        list={list}
        rows={list.data?.pages.flatMap((page) =>
          page.rows.map(({ team: { id, name }, access_level: levels }) => ({
            id,
            name,
            level: levels.includes('edit') ? ('edit' as const) : ('read' as const),
          })),
        )}
        levels={levelNames}
        empty={<Empty title="No team has this suite">Everybody in the organization may read it then.</Empty>}
        mayEdit
        onAdd={add}
        onChange={change}
        onRemove={remove}
      />
    </section>
  )
}
