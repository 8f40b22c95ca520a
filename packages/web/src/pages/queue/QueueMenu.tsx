import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { QueueAddress } from '../../api/resource-queries.ts'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Menu } from '../../parts/Menu.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { queuesQuery, type Queue } from '../cluster/queries.ts'
import { EditQueueDialog } from './EditQueueDialog.tsx'
import { deleteQueue } from './queries.ts'

interface Props {
  address: QueueAddress
  queue: Queue
  /** Of its cluster. */
  isDefault: boolean
}

/** What is seldom done with a queue. */
export function QueueMenu({ address, queue, isDefault }: Props) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [open, setOpen] = useState<'edit' | 'delete' | null>(null)
  const close = () => setOpen(null)
  return (
    <>
      <Menu
        label="More about this queue"
        entries={[
          { label: 'Edit…', icon: 'pencil', action: () => setOpen('edit') },
          {
            label: 'Delete…',
            icon: 'trash',
            isDanger: true,
            ...(isDefault
              ? { disabledReason: 'It is the default queue of its cluster: choose another one first.' }
              : {}),
            action: () => setOpen('delete'),
          },
        ]}
      >
        <Icon name="ellipsis" />
      </Menu>
      {open === 'edit' && <EditQueueDialog address={address} queue={queue} onClose={close} />}
      {open === 'delete' && (
        <ConfirmDialog
          title={`Delete the queue ${queue.key}?`}
          action="Delete this queue"
          onConfirm={async () => {
            await deleteQueue(address)
            await navigate({
              to: '/organizations/$org/clusters/$cluster',
              params: { org: address.org, cluster: address.cluster },
            })
            await queryClient.invalidateQueries({
              queryKey: queuesQuery(address.org, address.cluster).queryKey,
            })
            showToast(`The queue ${queue.key} is deleted.`)
          }}
          onClose={close}
        >
          <p>
            Jobs that wait in it, and those that will name it, wait until there is a queue of this key again.
            Its agents stay connected and get no jobs.
          </p>
        </ConfirmDialog>
      )}
    </>
  )
}
