import { useState } from 'react'
import { TextField } from '../Field.tsx'
import { FormDialog } from './FormDialog.tsx'

interface Props {
  title: string
  /** What pausing does and does not do. */
  effect: string
  onPause: (note: string) => void
  onClose: () => void
}

export function PauseDialog({ effect, onPause, ...rest }: Props) {
  const [note, setNote] = useState('')
  const pause = () => {
    onPause(note)
    rest.onClose()
  }
  return (
    <FormDialog {...rest} action="Pause" icon="pause" onSubmit={pause}>
      <p>{effect}</p>
      <TextField
        label="Note"
        value={note}
        placeholder="Why, and until when"
        hint="Others see it here."
        onValue={setNote}
      />
    </FormDialog>
  )
}
