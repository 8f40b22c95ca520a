import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { newKey } from '../../api/call.ts'
import { keyOf } from '../../api/queries.ts'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { SelectField, TextField } from '../../parts/Field.tsx'
import { roleNames } from '../members/queries.ts'
import { createAccount } from './queries.ts'

export function NewAccountDialog({ org, onClose }: { org: string; onClose: () => void }) {
  const queryClient = useQueryClient()
  const [key] = useState(newKey)
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [isAdmin, setAdmin] = useState(false)
  const create = useMutation({
    mutationFn: () => createAccount(org, { name, description, role: isAdmin ? 'admin' : 'member' }, key),
    onSuccess: async () => {
      await queryClient.invalidateQueries({
        queryKey: keyOf('GET /v2/organizations/{org}/service_accounts'),
      })
      onClose()
    },
  })
  return (
    <FormDialog
      title="New service account"
      action="Create account"
      isBusy={create.isPending}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextField label="Name" value={name} required onValue={setName} />
      <TextField
        label="What it does"
        value={description}
        hint="You are its owner: people will ask you about it."
        onValue={setDescription}
      />
      <SelectField
        label="Role"
        value={isAdmin ? 'admin' : 'member'}
        onValue={(role) => setAdmin(role === 'admin')}
      >
        {Object.entries(roleNames).map(([role, title]) => (
          <option key={role} value={role}>
            {title}
          </option>
        ))}
      </SelectField>
      {create.error !== null && <p role="alert">{create.error.message}</p>}
    </FormDialog>
  )
}
