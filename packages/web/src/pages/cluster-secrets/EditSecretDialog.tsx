import { useMutation, useQueryClient } from '@tanstack/react-query'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { TextField } from '../../parts/Field.tsx'
import { useDraft } from '../../parts/settings/use-draft.ts'
import { showToast } from '../../parts/toasts/toasts.ts'
import type { ClusterAddress } from '../cluster/queries.ts'
import { PolicyField } from './PolicyField.tsx'
import { secretsQuery, updateSecret, type Secret } from './queries.ts'

interface Props {
  address: ClusterAddress
  secret: Secret
  onClose: () => void
}

export function EditSecretDialog({ address, secret, onClose }: Props) {
  const queryClient = useQueryClient()
  const draft = useDraft({ description: secret.description, policy: secret.policy })
  const { fields, changed, set } = draft
  const save = useMutation({
    async mutationFn() {
      await updateSecret(address, secret.id, changed)
      await queryClient.invalidateQueries({ queryKey: secretsQuery(address).queryKey })
    },
    onSuccess() {
      showToast('Saved.')
      onClose()
    },
  })
  return (
    <FormDialog
      title={`Edit the secret ${secret.key}`}
      action="Save"
      size="wide"
      isBusy={save.isPending}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Description"
        value={fields.description}
        onValue={(description) => set({ description })}
      />
      <PolicyField
        value={fields.policy}
        problem={save.error?.message}
        onValue={(policy) => set({ policy })}
      />
    </FormDialog>
  )
}
