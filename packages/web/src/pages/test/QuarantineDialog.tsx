import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { SelectField, TextArea } from '../../parts/Field.tsx'
import type { TestAddress } from '../../api/resource-queries.ts'
import { quarantine } from './queries.ts'

interface Props {
  address: TestAddress
  verb: 'mute' | 'skip'
  onDone: () => Promise<unknown>
  onClose: () => void
}

const days = ['1', '7', '14', '30', '60']

const texts = {
  mute: { title: 'Mute this test', action: 'Mute', what: 'It runs, and its failures do not count.' },
  skip: { title: 'Skip this test', action: 'Skip', what: 'It does not run.' },
}

export function QuarantineDialog({ address, verb, onDone, onClose }: Props) {
  const [reason, setReason] = useState('')
  const [length, setLength] = useState('14')
  const save = useMutation({
    async mutationFn() {
      const end = new Date(Date.now() + Number(length) * 24 * 60 * 60 * 1000)
      await quarantine(address, verb, { reason, expires_at: end.toISOString() })
      await onDone()
    },
    onSuccess: onClose,
  })
  const { title, action, what } = texts[verb]
  return (
    <FormDialog
      title={title}
      action={action}
      isBusy={save.isPending}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <p>{what} Afterwards it fails again. You are named as the one who repairs it.</p>
      <TextArea
        label="Reason"
        value={reason}
        maxLength={1000}
        problem={save.error?.message}
        onValue={setReason}
      />
      <SelectField label="For" value={length} onValue={setLength}>
        {days.map((each) => (
          <option key={each} value={each}>
            {each === '1' ? 'a day' : `${each} days`}
          </option>
        ))}
      </SelectField>
    </FormDialog>
  )
}
