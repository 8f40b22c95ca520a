import { useState, type ReactNode } from 'react'
import { Button } from '../Button.tsx'
import { TextField } from '../Field.tsx'
import { showLabel } from '../labels.ts'
import { Dialog } from './Dialog.tsx'

interface Props {
  title: string
  /** Names the consequences. */
  children: ReactNode
  /** The verb: "Stop this agent". */
  action: string
  keep?: string
  /** A name that must be typed first, because much is lost. */
  typedName?: string
  onConfirm: () => Promise<unknown> | void
  onClose: () => void
}

/** Asks before something that cannot be undone. A refusal is shown in the server's words. */
export function ConfirmDialog({
  title,
  children,
  action,
  keep = 'Keep it',
  typedName,
  onConfirm,
  onClose,
}: Props) {
  const [typed, setTyped] = useState('')
  // Nobody sees the names of emoji as they were typed.
  const isMeant = typedName === undefined || [typedName, showLabel(typedName)].includes(typed.trim())
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const confirm = async () => {
    setBusy(true)
    try {
      await onConfirm()
      onClose()
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
      setBusy(false)
    }
  }
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{keep}</Button>
          <Button
            kind="danger"
            isWrite
            isBusy={isBusy}
            disabled={isBusy || !isMeant}
            {...(isMeant ? {} : { title: 'Type its name first' })}
            onClick={() => void confirm()}
          >
            {action}
          </Button>
        </>
      }
    >
      {children}
      {typedName !== undefined && (
        <TextField
          label="Its name"
          value={typed}
          autoComplete="off"
          hint={`Type “${showLabel(typedName)}” to show that you mean it.`}
          onValue={setTyped}
        />
      )}
      {problem !== null && <p role="alert">{problem}</p>}
    </Dialog>
  )
}
