import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { newKey } from '../../api/call.ts'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { TextField } from '../../parts/Field.tsx'
import { createQueue, queuesQuery, shapesQuery, type ClusterAddress } from './queries.ts'
import { AffinityField, type Affinity } from './AffinityField.tsx'
import { MachineField, type Machine } from './MachineField.tsx'
import { QueueKeyField } from './QueueKeyField.tsx'

interface Props {
  address: ClusterAddress
  /** Millrace starts the agents of the cluster. */
  isHosted: boolean
  onClose: () => void
}

export function NewQueueDialog({ address, isHosted, onClose }: Props) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [key, setKey] = useState('')
  const [description, setDescription] = useState('')
  const [affinity, setAffinity] = useState<Affinity>('prefer-warmest')
  const { data: shapes = [] } = useQuery({ ...shapesQuery(address.org), enabled: isHosted })
  const machines = shapes.map(({ name }) => name)
  const [chosen, setChosen] = useState<Machine | null>()
  const machine = chosen === undefined ? (machines[0] ?? null) : chosen
  const [idempotencyKey, setIdempotencyKey] = useState(newKey)
  const create = useMutation({
    mutationFn: () =>
      createQueue(
        address,
        {
          key,
          description,
          retry_agent_affinity: affinity,
          ...(machine === null ? {} : { hostedAgents: { instanceShape: machine } }),
        },
        idempotencyKey,
      ),
    async onSuccess({ web_url: url }) {
      await queryClient.invalidateQueries({
        queryKey: queuesQuery(address.org, address.cluster).queryKey,
      })
      await navigate({ to: new URL(url).pathname })
    },
    onError: () => setIdempotencyKey(newKey()),
  })
  return (
    <FormDialog
      title="New queue"
      action="Create queue"
      isBusy={create.isPending}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <QueueKeyField
        label="Key"
        value={key}
        required
        problem={create.error?.message}
        hint="Agents and steps name the queue by it. It stays as it is."
        onValue={setKey}
      />
      <TextField label="Description" value={description} onValue={setDescription} />
      {isHosted && <MachineField machines={machines} value={machine} onValue={setChosen} />}
      <AffinityField value={affinity} onValue={setAffinity} />
    </FormDialog>
  )
}
