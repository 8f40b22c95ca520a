import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { newKey } from '../../api/call.ts'
import { Button } from '../../parts/Button.tsx'
import { CopyBlock } from '../../parts/Copy.tsx'
import { Dialog } from '../../parts/dialogs/Dialog.tsx'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { SelectField, TextField } from '../../parts/Field.tsx'
import { createToken, tokensQuery } from './queries.ts'
import { ScopeChoice } from './ScopeChoice.tsx'
import { commandScopes, type Scope } from './scopes.ts'

const lifetimes = [7, 30, 90, 365]

interface Props {
  /** The description that `millrace login` proposes; undefined: the person describes the token. */
  proposed: string | undefined
  onClose: () => void
}

export function NewTokenDialog({ proposed, onClose }: Props) {
  const queryClient = useQueryClient()
  const [key] = useState(newKey)
  const [description, setDescription] = useState(proposed ?? '')
  const [days, setDays] = useState('90')
  const [scopes, setScopes] = useState<readonly Scope[]>(proposed === undefined ? [] : commandScopes)
  const create = useMutation({
    mutationFn: () =>
      createToken(
        { description, scopes: [...scopes], expires_in_days: days === '' ? null : Number(days) },
        key,
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: tokensQuery().queryKey }),
  })
  if (create.data !== undefined) {
    return (
      <Dialog
        title="Your new token"
        isOpen
        onClose={onClose}
        actions={
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        }
      >
        <p>Copy it now: it is not shown again.</p>
        <CopyBlock text={create.data.token} label="token" />
      </Dialog>
    )
  }
  return (
    <FormDialog
      title="New access token"
      size="wide"
      action="Create token"
      isBusy={create.isPending}
      disabledReason={scopes.length === 0 ? 'Choose what it may do' : undefined}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Description"
        value={description}
        required
        placeholder="What uses it"
        onValue={setDescription}
      />
      <SelectField label="Expires" value={days} onValue={setDays}>
        {lifetimes.map((each) => (
          <option key={each} value={each}>
            After {each} days
          </option>
        ))}
        <option value="">Never</option>
      </SelectField>
      <ScopeChoice chosen={scopes} onChange={setScopes} />
      {create.error !== null && <p role="alert">{create.error.message}</p>}
    </FormDialog>
  )
}
