import { useState, type ReactNode } from 'react'
import { Button } from '../Button.tsx'
import { Dialog } from './Dialog.tsx'

interface Props {
  title: string
  /** Names the consequences. */
  children: ReactNode
  /** The verb: "Stop this agent". */
  action: string
  keep?: string
  onConfirm: () => Promise<unknown> | void
  onClose: () => void
}

/** Asks before something that cannot be undone. A refusal is shown in the server's words. */
export function ConfirmDialog({ title, children, action, keep = 'Keep it', onConfirm, onClose }: Props) {
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
          <Button kind="danger" isWrite isBusy={isBusy} disabled={isBusy} onClick={() => void confirm()}>
            {action}
          </Button>
        </>
      }
    >
      {children}
      {problem !== null && <p role="alert">{problem}</p>}
    </Dialog>
  )
}
