import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { SelectField, TextField } from '../../parts/Field.tsx'
import { useDraft } from '../../parts/settings/use-draft.ts'
import { TimeOrNever } from '../../parts/time/Time.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import type { ClusterAddress } from '../cluster/queries.ts'
import { expiryAfter, lifetimes } from './lifetimes.ts'
import { NetworksField } from './NetworksField.tsx'
import { writtenNetworks } from './networks.ts'
import { tokensQuery, updateToken, type AgentToken } from '../cluster/token-queries.ts'

interface Props {
  address: ClusterAddress
  token: AgentToken
  onClose: () => void
}

export function EditTokenDialog({ address, token, onClose }: Props) {
  const queryClient = useQueryClient()
  const draft = useDraft({
    description: token.description,
    allowed_ip_addresses: writtenNetworks(token.allowed_ip_addresses),
  })
  const { fields, changed, set } = draft
  const [days, setDays] = useState('keep')
  const save = useMutation({
    async mutationFn() {
      const expiry = days === 'keep' ? {} : { expires_at: expiryAfter(days, Date.now()) }
      await updateToken(address, token.id, { ...changed, ...expiry })
      await queryClient.invalidateQueries({ queryKey: tokensQuery(address).queryKey })
    },
    onSuccess() {
      showToast('Saved.')
      onClose()
    },
  })
  return (
    <FormDialog
      title={`Edit “${token.description}”`}
      action="Save"
      isBusy={save.isPending}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Description"
        value={fields.description}
        required
        maxLength={1000}
        problem={save.error?.message}
        onValue={(description) => set({ description })}
      />
      <NetworksField
        value={fields.allowed_ip_addresses}
        onValue={(networks) => set({ allowed_ip_addresses: networks })}
      />
      <SelectField
        label="Expires"
        value={days}
        hint={
          <>
            Now: <TimeOrNever at={token.expires_at} />
          </>
        }
        onValue={setDays}
      >
        <option value="keep">As it is</option>
        {token.expires_at !== null && <option value="">Never</option>}
        {lifetimes.map((each) => (
          <option key={each} value={each}>
            {each} days from now
          </option>
        ))}
      </SelectField>
    </FormDialog>
  )
}
