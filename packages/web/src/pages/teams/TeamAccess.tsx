import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ComponentProps, type ReactNode } from 'react'
import { Button } from '../../parts/Button.tsx'
import { AddDialog } from '../../parts/dialogs/AddDialog.tsx'
import { showLabel } from '../../parts/labels.ts'
import { RowSelect } from '../../parts/settings/RowSelect.tsx'
import { SectionHead } from '../../parts/settings/SectionHead.tsx'
import { NotLoaded, ShowMore } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { showFailure, showToast } from '../../parts/toasts/toasts.ts'
import { managedTeamsQuery, teamPath } from './queries.ts'

interface Row<Level> {
  id: string
  name: string
  level: Level
}

interface Props<Level extends string> {
  org: string
  list: ComponentProps<typeof NotLoaded>['query'] & ComponentProps<typeof ShowMore>['list']
  rows: ReadonlyArray<Row<Level>> | undefined
  /** Each level with its name. */
  levels: Readonly<Record<Level, string>>
  /** What stands there while no team has access. */
  empty: ReactNode
  /** Without it no team is offered. */
  mayEdit: boolean
  /** Each stores the change, and loads the list anew. */
  onAdd: (team: string, level?: Level) => Promise<unknown>
  onChange: (team: string, level: Level) => Promise<unknown>
  onRemove: (team: string) => Promise<unknown>
}

/** The teams that may use a pipeline or a suite. Who manages a team changes what its members may do. */
export function TeamAccess<Level extends string>(props: Props<Level>) {
  const { org, list, rows, levels, mayEdit } = props
  const managedQuery = managedTeamsQuery(org)
  const { data: managed = [] } = useQuery({ ...managedQuery, enabled: mayEdit })
  const [isAdding, setAdding] = useState(false)
  const mayChange = (row: Row<Level>) => managed.some(({ id }) => id === row.id)
  const remove = async ({ id, name, level }: Row<Level>) => {
    try {
      await props.onRemove(id)
      const undo = () => void props.onAdd(id, level).catch(showFailure)
      showToast(`${name} has no access any more.`, { undo })
    } catch (error) {
      showFailure(error)
    }
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
      {rows?.length === 0 && props.empty}
      {rows !== undefined && rows.length > 0 && (
        <Table
          label="Teams with access"
          rows={rows}
          columns={[
            {
              head: 'Team',
              titleOf: ({ name }) => name,
              render: ({ id, name }) => <Link to={teamPath(org, id)}>{showLabel(name)}</Link>,
            },
            {
              head: 'What its members may do',
              render: (row) =>
                mayChange(row) ? (
                  <RowSelect
                    label={`What members of ${row.name} may do`}
                    value={row.level}
                    options={levels}
                    onChoose={(level) => props.onChange(row.id, level)}
                  />
                ) : (
                  levels[row.level]
                ),
            },
          ]}
          {...(rows.some(mayChange)
            ? {
                renderAction: (row: Row<Level>) =>
                  mayChange(row) && (
                    <Button
                      isWrite
                      aria-label={`Remove ${showLabel(row.name)}`}
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
          findKey={managedQuery.queryKey}
          present={new Set(rows?.map(({ id }) => id))}
          onAdd={(team) => props.onAdd(team)}
          onClose={() => setAdding(false)}
        />
      )}
    </>
  )
}
