import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { AddDialog } from '../../parts/dialogs/AddDialog.tsx'
import { RowSelect } from '../../parts/settings/RowSelect.tsx'
import { SectionHead } from '../../parts/settings/SectionHead.tsx'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { showFailure, showToast } from '../../parts/toasts/toasts.ts'
import {
  addMember,
  deleteTeamMember,
  findMembers,
  findMembersKey,
  teamMembersQuery,
  teamRoleNames,
  updateTeamMember,
  type TeamAddress,
  type TeamMember,
} from './queries.ts'

export function Members({ address, mayManage }: { address: TeamAddress; mayManage: boolean }) {
  const queryClient = useQueryClient()
  const list = useInfiniteQuery(teamMembersQuery(address))
  const [isAdding, setAdding] = useState(false)
  const rows = list.data?.pages.flatMap((page) => page.rows.map((row) => ({ ...row, id: row.user_id })))
  const reload = () => queryClient.invalidateQueries({ queryKey: teamMembersQuery(address).queryKey })
  const add = async (user: string, role?: TeamMember['role']) => {
    await addMember(address, user, role)
    await reload()
  }
  const remove = async ({ user_id: user, user_name: name, role }: TeamMember) => {
    try {
      await deleteTeamMember(address, user)
      // Whoever takes it back sees first that it was done.
      await reload()
      showToast(`${name} has left the team.`, { undo: () => void add(user, role).catch(showFailure) })
    } catch (error) {
      showFailure(error)
    }
  }
  return (
    <>
      <SectionHead title="Members">
        {mayManage && <Button onClick={() => setAdding(true)}>Add members…</Button>}
      </SectionHead>
      {rows === undefined && <NotLoaded query={list} rows={3} />}
      {rows?.length === 0 && <Empty title="Nobody is in this team yet" />}
      {rows !== undefined && rows.length > 0 && (
        <Table
          label="Members of the team"
          rows={rows}
          columns={[
            { head: 'Name', titleOf: ({ user_name: name }) => name, render: ({ user_name: name }) => name },
            {
              head: 'Role',
              render: ({ user_id: user, user_name: name, role }) =>
                mayManage ? (
                  <RowSelect
                    label={`Role of ${name}`}
                    value={role}
                    options={teamRoleNames}
                    onChoose={async (next) => {
                      await updateTeamMember(address, user, next)
                      await reload()
                    }}
                  />
                ) : (
                  teamRoleNames[role]
                ),
            },
          ]}
          {...(mayManage
            ? {
                renderAction: (member: TeamMember) => (
                  <Button aria-label={`Remove ${member.user_name}`} onClick={() => void remove(member)}>
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
          title="Add members"
          searchLabel="Find a member"
          find={(text, signal) => findMembers(address.org, text, signal)}
          findKey={findMembersKey(address.org)}
          present={new Set(rows?.map(({ id }) => id))}
          onAdd={(user) => add(user)}
          onClose={() => setAdding(false)}
        />
      )}
    </>
  )
}
