import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { Empty, NotLoaded } from '../../parts/States.tsx'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { Table } from '../../parts/Table.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import { ConnectionDialog } from './ConnectionDialog.tsx'
import { rightsText } from './host-types.ts'
import { connectionsQuery, deleteConnection, type Connection } from './queries.ts'
import styles from './page.module.css'

export function ConnectionsPage() {
  const { org } = useParams({ from: '/organizations/$org/settings/connections' })
  const [isNewOpen, setNewOpen] = useState(false)
  return (
    <OrganizationSettings
      org={org}
      name="connections"
      subtitle="Source hosts that repositories of pipelines are on, and what Millrace may do there."
      actions={
        <Button isWrite kind="primary" icon="plus" onClick={() => setNewOpen(true)}>
          New connection
        </Button>
      }
    >
      <Connections org={org} />
      {isNewOpen && <ConnectionDialog org={org} connection={null} onClose={() => setNewOpen(false)} />}
    </OrganizationSettings>
  )
}

function Connections({ org }: { org: string }) {
  const queryClient = useQueryClient()
  const list = useQuery(connectionsQuery(org))
  const [editing, setEditing] = useState<Connection | null>(null)
  const [deleting, setDeleting] = useState<Connection | null>(null)
  if (list.data === undefined) return <NotLoaded query={list} />
  if (list.data.length === 0)
    return (
      <Empty title="No source host is connected">
        Without a connection, builds start by webhooks, and no commit status is sent.
      </Empty>
    )
  return (
    <>
      <Table
        label="Repository connections"
        rows={list.data}
        columns={[
          {
            head: 'Name',
            titleOf: ({ url }) => url,
            render: ({ display_name: name }) => name,
          },
          { head: 'What it may do', look: 'aside', titleOf: rightsText, render: rightsText },
          {
            head: 'State',
            titleOf: ({ problem }) => problem ?? undefined,
            render: ({ problem }) => (
              <StateBadge kind="connection" state={problem === null ? 'fine' : 'failing'} isQuiet />
            ),
          },
        ]}
        renderAction={(connection) => (
          <span className={styles.actions}>
            <Button
              isWrite
              aria-label={`Edit ${connection.display_name}`}
              onClick={() => setEditing(connection)}
            >
              Edit…
            </Button>
            <Button
              isWrite
              kind="danger"
              aria-label={`Delete ${connection.display_name}`}
              onClick={() => setDeleting(connection)}
            >
              Delete…
            </Button>
          </span>
        )}
      />
      {editing !== null && (
        <ConnectionDialog org={org} connection={editing} onClose={() => setEditing(null)} />
      )}
      {deleting !== null && (
        <ConfirmDialog
          title={`Delete ${deleting.display_name}?`}
          action="Delete this connection"
          onConfirm={async () => {
            await deleteConnection(org, deleting.id)
            await queryClient.invalidateQueries({ queryKey: connectionsQuery(org).queryKey })
            showToast('The connection is deleted.')
          }}
          onClose={() => setDeleting(null)}
        >
          <p>
            Its secrets go too. No commit status is sent to {deleting.repository_host} any more, and webhooks
            from there need no signature.
          </p>
        </ConfirmDialog>
      )}
    </>
  )
}
