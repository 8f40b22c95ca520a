import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Menu } from '../../parts/Menu.tsx'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time, TimeOrNever } from '../../parts/time/Time.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import type { ClusterAddress } from '../cluster/queries.ts'
import { EditSecretDialog } from './EditSecretDialog.tsx'
import { NewValueDialog } from './NewValueDialog.tsx'
import { deleteSecret, secretsQuery, type Secret } from './queries.ts'

type Act = 'edit' | 'value' | 'delete'

export function Secrets({ address }: { address: ClusterAddress }) {
  const queryClient = useQueryClient()
  const list = useInfiniteQuery(secretsQuery(address))
  const [open, setOpen] = useState<{ act: Act; secret: Secret } | null>(null)
  const secrets = list.data?.pages.flatMap(({ rows }) => rows)
  if (secrets === undefined) return <NotLoaded query={list} rows={3} />
  if (secrets.length === 0)
    return (
      <Empty title="No secrets yet">A password or a key that must not be in a repository or in a log.</Empty>
    )
  const close = () => setOpen(null)
  return (
    <>
      <Table
        label="Secrets"
        rows={secrets}
        columns={[
          {
            head: 'Key',
            titleOf: ({ key }) => key,
            render: ({ key }) => <code>{key}</code>,
          },
          {
            head: 'Description',
            look: 'aside',
            titleOf: ({ description }) => description,
            render: ({ description }) => description,
          },
          {
            head: 'Read by',
            look: 'muted',
            render: ({ policy }) => (policy === '' ? 'Every job' : 'Jobs that its policy allows'),
          },
          { head: 'Changed', look: 'aside', render: (secret) => <Time at={secret.updated_at} /> },
          { head: 'Last read', look: 'aside', render: (secret) => <TimeOrNever at={secret.last_read_at} /> },
        ]}
        renderAction={(secret) => (
          <Menu
            label={`More about ${secret.key}`}
            entries={[
              {
                label: 'Edit policy and description…',
                icon: 'pencil',
                action: () => setOpen({ act: 'edit', secret }),
              },
              { label: 'New value…', icon: 'key', action: () => setOpen({ act: 'value', secret }) },
              {
                label: 'Delete…',
                icon: 'trash',
                isDanger: true,
                action: () => setOpen({ act: 'delete', secret }),
              },
            ]}
          >
            <Icon name="ellipsis" />
          </Menu>
        )}
      />
      <ShowMore list={list} />
      {open?.act === 'edit' && <EditSecretDialog address={address} secret={open.secret} onClose={close} />}
      {open?.act === 'value' && <NewValueDialog address={address} secret={open.secret} onClose={close} />}
      {open?.act === 'delete' && (
        <ConfirmDialog
          title={`Delete the secret ${open.secret.key}?`}
          action="Delete this secret"
          onConfirm={async () => {
            await deleteSecret(address, open.secret.id)
            await queryClient.invalidateQueries({ queryKey: secretsQuery(address).queryKey })
            showToast(`The secret ${open.secret.key} is deleted.`)
          }}
          onClose={close}
        >
          <p>Jobs that ask for it fail before their command. Its value cannot be brought back.</p>
        </ConfirmDialog>
      )}
    </>
  )
}
