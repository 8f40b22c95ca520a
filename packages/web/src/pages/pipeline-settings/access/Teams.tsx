import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../../parts/Button.tsx'
import { AddDialog } from '../../../parts/dialogs/AddDialog.tsx'
import { showLabel } from '../../../parts/labels.ts'
import { RowSelect } from '../../../parts/settings/RowSelect.tsx'
import { SectionHead } from '../../../parts/settings/SectionHead.tsx'
import { Empty, NotLoaded, ShowMore } from '../../../parts/States.tsx'
import { Table } from '../../../parts/Table.tsx'
import { showFailure, showToast } from '../../../parts/toasts/toasts.ts'
import { accessNames, addPipeline, deleteTeamPipeline, updateTeamPipeline } from '../../team/queries.ts'
import { teamPath } from '../../teams/queries.ts'
import type { Pipeline, PipelineAddress } from '../queries.ts'
import { managedTeamsQuery, pipelineTeamsQuery, type PipelineTeam } from './queries.ts'

interface Props {
  address: PipelineAddress
  pipeline: Pipeline
  mayEdit: boolean
}

export function Teams({ address, pipeline, mayEdit }: Props) {
  const { org } = address
  const queryClient = useQueryClient()
  const list = useInfiniteQuery(pipelineTeamsQuery(address))
  const { data: managed = [] } = useQuery({ ...managedTeamsQuery(org), enabled: mayEdit })
  const [isAdding, setAdding] = useState(false)
  const rows = list.data?.pages.flatMap((page) => page.rows.map((row) => ({ ...row, id: row.team.id })))
  const reload = () => queryClient.invalidateQueries({ queryKey: pipelineTeamsQuery(address).queryKey })
  const mayChange = ({ team }: PipelineTeam) => managed.some(({ id }) => id === team.id)
  const change = async (team: string, level: PipelineTeam['access_level']) => {
    await updateTeamPipeline({ org, team }, pipeline.id, level)
    await reload()
  }
  const add = async (team: string) => {
    await addPipeline({ org, team }, pipeline.id)
    await reload()
  }
  const remove = async ({ team: { id, name }, access_level: level }: PipelineTeam) => {
    try {
      await deleteTeamPipeline({ org, team: id }, pipeline.id)
      const undo = () =>
        void add(id)
          .then(() => change(id, level))
          .catch(showFailure)
      showToast(`${name} has no access any more.`, { undo })
    } catch (error) {
      showFailure(error)
    }
    await reload()
  }
  return (
    <>
      <SectionHead title="Teams">
        {managed.length > 0 && (
          <Button isWrite onClick={() => setAdding(true)}>
            Add teams…
          </Button>
        )}
      </SectionHead>
      {rows === undefined && <NotLoaded query={list} rows={3} />}
      {rows?.length === 0 && <Empty title="No team has access yet" />}
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
                    value={row.access_level}
                    options={accessNames}
                    onChoose={(level) => change(row.team.id, level)}
                  />
                ) : (
                  accessNames[row.access_level]
                ),
            },
          ]}
          {...(rows.some(mayChange)
            ? {
                renderAction: (row: PipelineTeam) =>
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
          onAdd={add}
          onClose={() => setAdding(false)}
        />
      )}
    </>
  )
}
