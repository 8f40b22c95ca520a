import { useId, useState } from 'react'
import { Button } from '../Button.tsx'
import { Dialog } from './Dialog.tsx'
import { TextField } from '../Field.tsx'

interface Props {
  title: string
  /** What pausing does and does not do. */
  effect: string
  onPause: (note: string) => void
  onClose: () => void
}

export function PauseDialog({ title, effect, onPause, onClose }: Props) {
  const formId = useId()
  const [note, setNote] = useState('')
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={formId} icon="pause">
            Pause
          </Button>
        </>
      }
    >
      <p>{effect}</p>
      <form
        id={formId}
        onSubmit={(event) => {
          event.preventDefault()
          onPause(note)
          onClose()
        }}
      >
        <TextField
          label="Note"
          value={note}
          placeholder="Why, and until when"
          hint="Others see it here."
          onChange={({ target }) => setNote(target.value)}
        />
      </form>
    </Dialog>
  )
}
