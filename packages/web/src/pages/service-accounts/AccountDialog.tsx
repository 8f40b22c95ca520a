import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { newKey } from '../../api/call.ts'
import { keyOf } from '../../api/queries.ts'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { SelectField, TextField } from '../../parts/Field.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { roleNames } from '../members/queries.ts'
import { createAccount, updateAccount, type ServiceAccount } from './queries.ts'

interface Props {
  org: string
  /** null: a new one. */
  account: ServiceAccount | null
  onClose: () => void
}

/** Makes a service account, or changes one. */
export function AccountDialog({ org, account, onClose }: Props) {
  const queryClient = useQueryClient()
  const [key, setKey] = useState(newKey)
  const [fields, setFields] = useState<Pick<ServiceAccount, 'name' | 'description' | 'role'>>({
    name: account?.name ?? '',
    description: account?.description ?? '',
    role: account?.role ?? 'member',
  })
  const set = (change: Partial<typeof fields>) => setFields((before) => ({ ...before, ...change }))
  const save = useMutation({
    async mutationFn() {
      await (account === null ? createAccount(org, fields, key) : updateAccount(org, account.id, fields))
      await queryClient.invalidateQueries({
        queryKey: keyOf('GET /v2/organizations/{org}/service_accounts'),
      })
    },
    onSuccess() {
      if (account !== null) showToast('Saved.')
      onClose()
    },
    onError: () => setKey(newKey()),
  })
  const becomesAdmin = account !== null && account.role !== 'admin' && fields.role === 'admin'
  return (
    <FormDialog
      title={account === null ? 'New service account' : `Edit ${account.name}`}
      action={account === null ? 'Create account' : 'Save'}
      isBusy={save.isPending}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextField label="Name" value={fields.name} required onValue={(name) => set({ name })} />
      <TextField
        label="What it does"
        value={fields.description}
        {...(account === null ? { hint: 'You are its owner: people will ask you about it.' } : {})}
        onValue={(description) => set({ description })}
      />
      <SelectField
        label="Role"
        value={fields.role}
        {...(becomesAdmin
          ? { hint: 'Its tokens are revoked, because they would become an administrator’s.' }
          : {})}
        onValue={(role) => set({ role: role === 'admin' ? 'admin' : 'member' })}
      >
        {Object.entries(roleNames).map(([role, title]) => (
          <option key={role} value={role}>
            {title}
          </option>
        ))}
      </SelectField>
      {save.error !== null && <p role="alert">{save.error.message}</p>}
    </FormDialog>
  )
}
