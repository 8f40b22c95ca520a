import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { AddDialog } from '../../parts/dialogs/AddDialog.tsx'
import { showLabel } from '../../parts/labels.ts'
import { RowSelect } from '../../parts/settings/RowSelect.tsx'
import { SectionHead } from '../../parts/settings/SectionHead.tsx'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { showFailure, showToast } from '../../parts/toasts/toasts.ts'
import { managedTeamsQuery } from '../pipeline-settings/access/queries.ts'
import type { SuiteAddress } from '../suite/queries.ts'
import { teamPath } from '../teams/queries.ts'
import {
  addSuite,
  deleteTeamSuite,
  suiteTeamsQuery,
  updateTeamSuite,
  type Level,
  type SuiteTeam,
} from './queries.ts'

const levelNames = { read: 'Read it', edit: 'Change and delete it' } as const

const levelOf = ({ access_level: levels }: SuiteTeam): Level => (levels.includes('edit') ? 'edit' : 'read')

export function SuiteTeams({ address, suiteId }: { address: SuiteAddress; suiteId: string }) {
  const { org } = address
  const queryClient = useQueryClient()
  const list = useInfiniteQuery(suiteTeamsQuery(address))
  const { data: managed = [] } = useQuery(managedTeamsQuery(org))
  const [isAdding, setAdding] = useState(false)
  const rows = list.data?.pages.flatMap((page) => page.rows.map((row) => ({ ...row, id: row.team.id })))
  const reload = () => queryClient.invalidateQueries({ queryKey: suiteTeamsQuery(address).queryKey })
  const mayChange = ({ team }: SuiteTeam) => managed.some(({ id }) => id === team.id)
  const add = async (team: string, level: Level = 'read') => {
    await addSuite({ org, team }, suiteId, level)
    await reload()
  }
  const change = async (team: string, level: Level) => {
    await updateTeamSuite({ org, team }, suiteId, level)
    await reload()
  }
  const remove = async (row: SuiteTeam) => {
    const { id, name } = row.team
    try {
      await deleteTeamSuite({ org, team: id }, suiteId)
      const undo = () => void add(id, levelOf(row)).catch(showFailure)
      showToast(`${name} has no access any more.`, { undo })
    } catch (error) {
      showFailure(error)
    }
    await reload()
  }
  return (
    <section>
      <SectionHead title="Teams">
        {managed.length > 0 && (
          <Button isWrite onClick={() => setAdding(true)}>
            Add teams…
          </Button>
        )}
      </SectionHead>
      {rows === undefined && <NotLoaded query={list} rows={3} />}
      {rows?.length === 0 && (
        <Empty title="No team has this suite">Everybody in the organization may read it then.</Empty>
      )}
      {rows !== undefined && rows.length > 0 && (
        <Table
          label="Teams with access"
          rows={rows}
          columns={[
            {
              head: 'Team',
              titleOf: ({ team }) => team.name,
              render: ({ team }) => <Link to={teamPath(org, team.id)}>{showLabel(team.name)}</Link>,
            },
            {
              head: 'What its members may do',
              render: (row) =>
                mayChange(row) ? (
                  <RowSelect
                    label={`What members of ${row.team.name} may do`}
                    value={levelOf(row)}
                    options={levelNames}
                    onChoose={(level) => change(row.team.id, level)}
                  />
                ) : (
                  levelNames[levelOf(row)]
                ),
            },
          ]}
          {...(rows.some(mayChange)
            ? {
                renderAction: (row: SuiteTeam) =>
                  mayChange(row) && (
                    <Button
                      isWrite
                      aria-label={`Remove ${showLabel(row.team.name)}`}
                      onClick={() => void remove(row)}
                    >
                      Remove
                    </Button>
                  ),
              }
            : {})}
        />
      )}
      <ShowMore list={list} />
      {isAdding && (
        <AddDialog
          title="Add teams"
          searchLabel="Find a team"
          find={async (text) =>
            managed
              .filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
              .slice(0, 20)
              .map(({ id, name, slug }) => ({ id, name, detail: slug }))
          }
          findKey={managedTeamsQuery(org).queryKey}
          present={new Set(rows?.map(({ id }) => id))}
          onAdd={(team) => add(team)}
          onClose={() => setAdding(false)}
        />
      )}
    </section>
  )
}
