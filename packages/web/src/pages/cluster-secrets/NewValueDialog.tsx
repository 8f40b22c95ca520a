import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import type { ClusterAddress } from '../cluster/queries.ts'
import { secretsQuery, updateSecretValue, type Secret } from './queries.ts'
import { ValueField } from './ValueField.tsx'

interface Props {
  address: ClusterAddress
  secret: Secret
  onClose: () => void
}

export function NewValueDialog({ address, secret, onClose }: Props) {
  const queryClient = useQueryClient()
  const [value, setValue] = useState('')
  const save = useMutation({
    async mutationFn() {
      await updateSecretValue(address, secret.id, value)
      await queryClient.invalidateQueries({ queryKey: secretsQuery(address).queryKey })
    },
    onSuccess() {
      showToast(`${secret.key} has a new value.`)
      onClose()
    },
  })
  return (
    <FormDialog
      title={`New value of ${secret.key}`}
      action="Replace the value"
      isBusy={save.isPending}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <ValueField label="New value" value={value} onValue={setValue} />
      <p>Jobs that start from now on read it. The old value is lost.</p>
      {save.error !== null && <p role="alert">{save.error.message}</p>}
    </FormDialog>
  )
}
