import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { clusterQuery } from '../../api/resource-queries.ts'
import { Button } from '../../parts/Button.tsx'
import { AddDialog } from '../../parts/dialogs/AddDialog.tsx'
import { showLabel } from '../../parts/labels.ts'
import { SectionHead } from '../../parts/settings/SectionHead.tsx'
import { Empty, NotLoaded } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { showFailure, showToast } from '../../parts/toasts/toasts.ts'
import type { ClusterAddress } from '../cluster/queries.ts'
import { findMembers, findMembersKey } from '../team/queries.ts'
import { findTeams, findTeamsKey } from '../teams/queries.ts'
import {
  actorOf,
  addMaintainer,
  deleteMaintainer,
  maintainersQuery,
  type Actor,
  type Maintainer,
} from './queries.ts'

interface Props {
  address: ClusterAddress
  mayManage: boolean
  /** Those who may not see members and teams cannot choose among them. */
  maySeePeople: boolean
}

export function Maintainers({ address, mayManage, maySeePeople }: Props) {
  const queryClient = useQueryClient()
  const list = useQuery(maintainersQuery(address))
  const [adding, setAdding] = useState<'people' | 'teams' | null>(null)
  const rows = list.data
  const reload = () =>
    Promise.all([
      queryClient.invalidateQueries({ queryKey: maintainersQuery(address).queryKey }),
      queryClient.invalidateQueries({ queryKey: clusterQuery(address.org, address.cluster).queryKey }),
    ])
  const add = async (actor: Actor) => {
    await addMaintainer(address, actor)
    await reload()
  }
  const remove = async (maintainer: Maintainer) => {
    try {
      await deleteMaintainer(address, maintainer.id)
      await reload()
      showToast(`${maintainer.actor.name} is no maintainer any more.`, {
        undo: () => void add(actorOf(maintainer)).catch(showFailure),
      })
    } catch (error) {
      showFailure(error)
    }
  }
  const common = {
    present: new Set(rows?.map(({ actor }) => actor.id)),
    onClose: () => setAdding(null),
  }
  return (
    <>
      {mayManage && maySeePeople && (
        <SectionHead title="People and teams">
          <span>
            <Button isWrite onClick={() => setAdding('people')}>
              Add people…
            </Button>{' '}
            <Button isWrite onClick={() => setAdding('teams')}>
              Add teams…
            </Button>
          </span>
        </SectionHead>
      )}
      {rows === undefined && <NotLoaded query={list} rows={3} />}
      {rows?.length === 0 && (
        <Empty title="No maintainers yet">
          Until then, administrators of the organization manage it alone.
        </Empty>
      )}
      {rows !== undefined && rows.length > 0 && (
        <Table
          label="Maintainers"
          rows={rows}
          columns={[
            { head: 'Name', titleOf: ({ actor }) => actor.name, render: ({ actor }) => actor.name },
            {
              head: 'Kind',
              look: 'optional',
              render: ({ actor }) => (actor.type === 'user' ? 'Person' : 'Team'),
            },
            {
              head: 'Address',
              look: 'aside',
              render: ({ actor }) => (actor.type === 'user' ? actor.email : actor.slug),
            },
          ]}
          {...(mayManage
            ? {
                renderAction: (maintainer: Maintainer) => (
                  <Button
                    isWrite
                    aria-label={`Remove ${showLabel(maintainer.actor.name)}`}
                    onClick={() => void remove(maintainer)}
                  >
                    Remove
                  </Button>
                ),
              }
            : {})}
        />
      )}
      {adding === 'people' && (
        <AddDialog
          {...common}
          title="Add maintainers"
          searchLabel="Find a member"
          find={(text, signal) => findMembers(address.org, text, signal)}
          findKey={findMembersKey(address.org)}
          onAdd={(user) => add({ user })}
        />
      )}
      {adding === 'teams' && (
        <AddDialog
          {...common}
          title="Add teams as maintainers"
          searchLabel="Find a team"
          find={(text, signal) => findTeams(address.org, text, signal)}
          findKey={findTeamsKey(address.org)}
          onAdd={(team) => add({ team })}
        />
      )}
    </>
  )
}
