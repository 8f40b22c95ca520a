import { useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { Dialog } from '../parts/dialogs/Dialog.tsx'
import { TextField } from '../parts/Field.tsx'

interface Props {
  isOpen: boolean
  total: number
  onClose: () => void
  onRow: (row: number) => void
}

export function GoToRow({ isOpen, total, onClose, onRow }: Props) {
  const [text, setText] = useState('')
  const submit = (event: React.FormEvent) => {
    event.preventDefault()
    const row = Number(text.replaceAll(/[^\d]/g, ''))
    if (row > 0) onRow(row)
    setText('')
    onClose()
  }
  return (
    <Dialog title="Go to row" isOpen={isOpen} onClose={onClose}>
      <form onSubmit={submit}>
        <TextField
          label={`Row, 1 to ${total.toLocaleString()}`}
          inputMode="numeric"
          value={text}
          onValue={setText}
        />
        <Button type="submit" kind="primary">
          Go
        </Button>
      </form>
    </Dialog>
  )
}
