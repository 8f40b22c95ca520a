import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { newKey } from '../../api/call.ts'
import { Button } from '../../parts/Button.tsx'
import { Dialog } from '../../parts/dialogs/Dialog.tsx'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { SelectField, TextField } from '../../parts/Field.tsx'
import { queuesQuery, type ClusterAddress } from '../cluster/queries.ts'
import { StartCommands } from '../cluster/StartCommands.tsx'
import { expiryAfter, lifetimes } from './lifetimes.ts'
import { NetworksField } from './NetworksField.tsx'
import { createToken, tokensQuery } from '../cluster/token-queries.ts'

export function NewTokenDialog({ address, onClose }: { address: ClusterAddress; onClose: () => void }) {
  const queryClient = useQueryClient()
  const [description, setDescription] = useState('')
  const [networks, setNetworks] = useState('')
  const [days, setDays] = useState('')
  const [queue, setQueue] = useState('')
  const [key, setKey] = useState(newKey)
  const { data: queues = [] } = useQuery(queuesQuery(address.org, address.cluster))
  const create = useMutation({
    mutationFn: () =>
      createToken(
        address,
        { description, allowed_ip_addresses: networks, expires_at: expiryAfter(days, Date.now()) },
        key,
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: tokensQuery(address).queryKey }),
    onError: () => setKey(newKey()),
  })
  if (create.data !== undefined) {
    return (
      <Dialog
        title="Your new agent token"
        isOpen
        onClose={onClose}
        size="wide"
        actions={
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        }
      >
        <StartCommands token={create.data.token} queue={queue} />
      </Dialog>
    )
  }
  return (
    <FormDialog
      title="New agent token"
      action="Create token"
      isBusy={create.isPending}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Description"
        value={description}
        required
        maxLength={1000}
        placeholder="Which machines use it"
        problem={create.error?.message}
        onValue={setDescription}
      />
      <NetworksField value={networks} onValue={setNetworks} />
      <SelectField label="Expires" value={days} onValue={setDays}>
        <option value="">Never</option>
        {lifetimes.map((each) => (
          <option key={each} value={each}>
            After {each} days
          </option>
        ))}
      </SelectField>
      <SelectField
        label="Queue in the command"
        value={queue}
        hint="The token is good for all queues of the cluster."
        onValue={setQueue}
      >
        <option value="">The cluster’s default</option>
        {queues.map((each) => (
          <option key={each.id} value={each.key}>
            {each.key}
          </option>
        ))}
      </SelectField>
    </FormDialog>
  )
}
