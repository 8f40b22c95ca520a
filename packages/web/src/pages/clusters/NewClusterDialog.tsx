import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { newKey } from '../../api/call.ts'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { SelectField, TextArea, TextField } from '../../parts/Field.tsx'
import { MarkFields } from '../../parts/mark/MarkFields.tsx'
import { showFailure } from '../../parts/toasts/toasts.ts'
import { createQueue, shapesQuery, updateCluster } from '../cluster/queries.ts'
import { QueueKeyField } from '../cluster/QueueKeyField.tsx'
import { MachineField, type Machine } from '../cluster/MachineField.tsx'
import { clustersQuery, createCluster } from './queries.ts'

export function NewClusterDialog({ org, onClose }: { org: string; onClose: () => void }) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [fields, setFields] = useState({ name: '', description: '', emoji: '', color: '' })
  const [queue, setQueue] = useState('default')
  const [key, setKey] = useState(newKey)
  const { data: shapes = [] } = useQuery(shapesQuery(org))
  const machines = shapes.map(({ name }) => name)
  const [isHosted, setHosted] = useState(false)
  const [chosen, setChosen] = useState<Machine | null>()
  const machine = isHosted ? (chosen === undefined ? (machines[0] ?? null) : chosen) : null
  const set = (change: Partial<typeof fields>) => setFields((before) => ({ ...before, ...change }))
  const create = useMutation({
    mutationFn: async () => {
      const { id } = await createCluster(org, { ...fields, hosted: isHosted }, key)
      // The cluster is there already, and its page can make the queue too.
      await makeDefaultQueue(org, id, { key: queue, machine }).catch(showFailure)
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
      {machines.length > 0 && (
        <SelectField
          label="Agents"
          value={isHosted ? 'hosted' : 'own'}
          hint="This stays as it is. In a hosted cluster people may start agents too."
          onValue={(value) => setHosted(value === 'hosted')}
        >
          <option value="own">People start them</option>
          <option value="hosted">Hosted: Millrace starts one for each job</option>
        </SelectField>
      )}
      <MarkFields emoji={fields.emoji} color={fields.color} onChange={set} />
      <QueueKeyField
        label="Default queue"
        value={queue}
        hint="For agents and steps that name no queue. Empty: none yet."
        onValue={setQueue}
      />
      {isHosted && queue !== '' && <MachineField machines={machines} value={machine} onValue={setChosen} />}
    </FormDialog>
  )
}

async function makeDefaultQueue(
  org: string,
  cluster: string,
  { key, machine }: { key: string; machine: Machine | null },
): Promise<void> {
  if (key === '') return
  const hosted = machine === null ? {} : { hostedAgents: { instanceShape: machine } }
  const { id } = await createQueue({ org, cluster }, { key, ...hosted }, newKey())
  await updateCluster({ org, cluster }, { default_queue_id: id })
}
