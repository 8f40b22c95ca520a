import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { newKey } from '../../api/call.ts'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { TextField } from '../../parts/Field.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import type { ClusterAddress } from '../cluster/queries.ts'
import { PolicyField } from './PolicyField.tsx'
import { createSecret, secretsQuery } from './queries.ts'
import { ValueField } from './ValueField.tsx'

export function NewSecretDialog({ address, onClose }: { address: ClusterAddress; onClose: () => void }) {
  const queryClient = useQueryClient()
  const [fields, setFields] = useState({ key: '', value: '', description: '', policy: '' })
  const set = (change: Partial<typeof fields>) => setFields((before) => ({ ...before, ...change }))
  const [key, setKey] = useState(newKey)
  const create = useMutation({
    mutationFn: () => createSecret(address, fields, key),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: secretsQuery(address).queryKey })
      showToast(`The secret ${fields.key} is stored.`)
      onClose()
    },
    onError: () => setKey(newKey()),
  })
  return (
    <FormDialog
      title="New secret"
      action="Create secret"
      size="wide"
      isBusy={create.isPending}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Key"
        value={fields.key}
        required
        placeholder="DEPLOY_TOKEN"
        pattern="[A-Za-z][A-Za-z0-9_]{0,254}"
        title="Letters, digits and underscores; a letter first"
        autoComplete="off"
        hint="Steps ask for the secret by it. It does not begin with BUILDKITE or BK, and stays as it is."
        onValue={(text) => set({ key: text })}
      />
      <ValueField label="Value" value={fields.value} onValue={(value) => set({ value })} />
      <TextField
        label="Description"
        value={fields.description}
        onValue={(description) => set({ description })}
      />
      <PolicyField value={fields.policy} onValue={(policy) => set({ policy })} />
      {create.error !== null && <p role="alert">{create.error.message}</p>}
    </FormDialog>
  )
}
