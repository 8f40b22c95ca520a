import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { newKey } from '../../api/call.ts'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { TextArea, TextField } from '../../parts/Field.tsx'
import { MarkFields } from '../../parts/mark/MarkFields.tsx'
import { showFailure } from '../../parts/toasts/toasts.ts'
import { createQueue, updateCluster } from '../cluster/queries.ts'
import { QueueKeyField } from '../cluster/QueueKeyField.tsx'
import { clustersQuery, createCluster } from './queries.ts'

export function NewClusterDialog({ org, onClose }: { org: string; onClose: () => void }) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [fields, setFields] = useState({ name: '', description: '', emoji: '', color: '' })
  const [queue, setQueue] = useState('default')
  const [key, setKey] = useState(newKey)
  const set = (change: Partial<typeof fields>) => setFields((before) => ({ ...before, ...change }))
  const create = useMutation({
    mutationFn: async () => {
      const { id } = await createCluster(org, fields, key)
      // The cluster is there already, and its page can make the queue too.
      await makeDefaultQueue(org, id, queue).catch(showFailure)
      return id
    },
    async onSuccess(cluster) {
      await queryClient.invalidateQueries({ queryKey: clustersQuery(org).queryKey })
      await navigate({ to: '/organizations/$org/clusters/$cluster', params: { org, cluster } })
    },
    onError: () => setKey(newKey()),
  })
  return (
    <FormDialog
      title="New cluster"
      action="Create cluster"
      isBusy={create.isPending}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={fields.name}
        required
        maxLength={255}
        problem={create.error?.message}
        onValue={(name) => set({ name })}
      />
      <TextArea
        label="Description"
        value={fields.description}
        onValue={(description) => set({ description })}
      />
      <MarkFields emoji={fields.emoji} color={fields.color} onChange={set} />
      <QueueKeyField
        label="Default queue"
        value={queue}
        hint="For agents and steps that name no queue. Empty: none yet."
        onValue={setQueue}
      />
    </FormDialog>
  )
}

async function makeDefaultQueue(org: string, cluster: string, key: string): Promise<void> {
  if (key === '') return
  const { id } = await createQueue({ org, cluster }, { key }, newKey())
  await updateCluster({ org, cluster }, { default_queue_id: id })
}
