import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { newKey } from '../../api/call.ts'
import { Button } from '../../parts/Button.tsx'
import { CopyBlock } from '../../parts/Copy.tsx'
import { Dialog } from '../../parts/dialogs/Dialog.tsx'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { SelectField, TextField } from '../../parts/Field.tsx'
import { ScopeChoice } from '../me/ScopeChoice.tsx'
import type { Scope } from '../me/scopes.ts'
import { createToken, type ServiceAccount } from './queries.ts'

const lifetimes = [7, 30, 90, 365]

interface Props {
  org: string
  account: ServiceAccount
  onCreated: () => Promise<unknown>
  onClose: () => void
}

type AccountScope = Exclude<Scope, 'write_user'>

/** A service account has no settings of its own to change. */
const isForAccounts = (scope: Scope): scope is AccountScope => scope !== 'write_user'

export function NewAccountTokenDialog({ org, account, onCreated, onClose }: Props) {
  const [key] = useState(newKey)
  const [description, setDescription] = useState('')
  const [days, setDays] = useState(90)
  const [chosen, setChosen] = useState<readonly AccountScope[]>([])
  const create = useMutation({
    mutationFn: () =>
      createToken({ org, id: account.id }, { description, scopes: [...chosen], expires_in_days: days }, key),
    onSuccess: onCreated,
  })
  if (create.data !== undefined) {
    return (
      <Dialog
        title={`The new token of ${account.name}`}
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
      title={`New token of ${account.name}`}
      size="wide"
      action="Create token"
      isBusy={create.isPending}
      disabledReason={chosen.length === 0 ? 'Choose what it may do' : undefined}
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
      <SelectField label="Expires" value={String(days)} onValue={(value) => setDays(Number(value))}>
        {lifetimes.map((each) => (
          <option key={each} value={each}>
            After {each} days
          </option>
        ))}
      </SelectField>
      <ScopeChoice chosen={chosen} onChange={(scopes) => setChosen(scopes.filter(isForAccounts))} />
      {create.error !== null && <p role="alert">{create.error.message}</p>}
    </FormDialog>
  )
}
