import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { newKey } from '../../api/call.ts'
import { Button } from '../../parts/Button.tsx'
import { CopyBlock } from '../../parts/Copy.tsx'
import { Dialog } from '../../parts/dialogs/Dialog.tsx'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { Checkbox, SelectField, TextField } from '../../parts/Field.tsx'
import { ScopeChoice } from './ScopeChoice.tsx'
import type { Scope } from './scopes.ts'

const lifetimes = [7, 30, 90, 365]

interface Wish<Offered> {
  description: string
  scopes: Offered[]
  /** null: it never expires. */
  days: number | null
  isMachine: boolean
}

interface Props<Offered> {
  title: string
  /** Once it is there. */
  doneTitle: string
  offered: readonly Offered[]
  /** What the form proposes. */
  proposed?: { description: string; scopes: readonly Offered[] } | undefined
  mayLastForever?: boolean
  /** Tokens of people alone: a service account is a machine anyway. */
  mayBeMachines?: boolean
  onCreate: (wish: Wish<Offered>, key: string) => Promise<{ token: string }>
  onClose: () => void
}

/** Asks what a token is for, makes it, and shows it once. */
export function TokenDialog<Offered extends Scope>(props: Props<Offered>) {
  const { title, doneTitle, offered, proposed, onCreate, onClose } = props
  const { mayLastForever = false, mayBeMachines = false } = props
  const [key] = useState(newKey)
  const [description, setDescription] = useState(proposed?.description ?? '')
  const [days, setDays] = useState('90')
  const [isMachine, setIsMachine] = useState(false)
  const [scopes, setScopes] = useState<readonly Offered[]>(proposed?.scopes ?? [])
  const create = useMutation({
    mutationFn: () =>
      onCreate({ description, scopes: [...scopes], days: days === '' ? null : Number(days), isMachine }, key),
  })
  if (create.data !== undefined) {
    return (
      <Dialog
        title={doneTitle}
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
      title={title}
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
        {mayLastForever && <option value="">Never</option>}
      </SelectField>
      {mayBeMachines && (
        <Checkbox
          label="A machine uses it: in fair queues, jobs of people may come before those of builds that it starts"
          checked={isMachine}
          onCheck={setIsMachine}
        />
      )}
      <ScopeChoice offered={offered} chosen={scopes} onChange={setScopes} />
      {create.error !== null && <p role="alert">{create.error.message}</p>}
    </FormDialog>
  )
}
