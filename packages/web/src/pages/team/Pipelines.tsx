import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
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
import {
  accessNames,
  addPipeline,
  deleteTeamPipeline,
  findPipelines,
  findPipelinesKey,
  teamPipelinesQuery,
  updateTeamPipeline,
  type TeamAddress,
  type TeamPipeline,
} from './queries.ts'

export function Pipelines({ address, mayManage }: { address: TeamAddress; mayManage: boolean }) {
  const queryClient = useQueryClient()
  const list = useInfiniteQuery(teamPipelinesQuery(address))
  const [isAdding, setAdding] = useState(false)
  const rows = list.data?.pages.flatMap((page) => page.rows.map((row) => ({ ...row, id: row.pipeline_id })))
  const reload = () => queryClient.invalidateQueries({ queryKey: teamPipelinesQuery(address).queryKey })
  const add = async (id: string, access?: TeamPipeline['access_level']) => {
    await addPipeline(address, id, access)
    await reload()
  }
  const remove = async ({ pipeline_id: id, pipeline_name: name, access_level: access }: TeamPipeline) => {
    try {
      await deleteTeamPipeline(address, id)
      await reload()
      showToast(`The team has no access to ${name} any more.`, {
        undo: () => void add(id, access).catch(showFailure),
      })
    } catch (error) {
      showFailure(error)
    }
  }
  return (
    <>
      <SectionHead title="Pipelines">
        {mayManage && <Button onClick={() => setAdding(true)}>Add pipelines…</Button>}
      </SectionHead>
      {rows === undefined && <NotLoaded query={list} rows={3} />}
      {rows?.length === 0 && <Empty title="This team has no pipeline yet" />}
      {rows !== undefined && rows.length > 0 && (
        <Table
          label="Pipelines of the team"
          rows={rows}
          columns={[
            {
              head: 'Name',
              titleOf: ({ pipeline_name: name }) => name,
              render: ({ pipeline_name: name, pipeline_slug: pipeline }) => (
                <Link to="/$org/$pipeline" params={{ org: address.org, pipeline }}>
                  {showLabel(name)}
                </Link>
              ),
            },
            {
              head: 'What its members may do',
              render: ({ id, pipeline_name: name, access_level: access }) =>
                mayManage ? (
                  <RowSelect
                    label={`What members may do with ${name}`}
                    value={access}
                    options={accessNames}
                    onChoose={async (next) => {
                      await updateTeamPipeline(address, id, next)
                      await reload()
                    }}
                  />
                ) : (
                  accessNames[access]
                ),
            },
          ]}
          {...(mayManage
            ? {
                renderAction: (pipeline: TeamPipeline) => (
                  <Button
                    aria-label={`Remove ${showLabel(pipeline.pipeline_name)}`}
                    onClick={() => void remove(pipeline)}
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
          title="Add pipelines"
          searchLabel="Find a pipeline"
          find={(text, signal) => findPipelines(address.org, text, signal)}
          findKey={findPipelinesKey(address.org)}
          present={new Set(rows?.map(({ id }) => id))}
          onAdd={(id) => add(id)}
          onClose={() => setAdding(false)}
        />
      )}
    </>
  )
}
