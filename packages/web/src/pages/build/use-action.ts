// A write that somebody asked for: shown at once, sent once, and taken back with the server's words if it is refused.
import { useRef, useState } from 'react'
import { ApiFailure, newKey } from '../../api/call.ts'
import { showToast } from '../../parts/toasts/toasts.ts'

interface Action {
  /** Shows the outcome before the server has answered. Returns what takes it back. */
  show?: () => () => void
  /** The key makes the server count a repeated request once. */
  send: (idempotencyKey: string) => Promise<void>
}

export interface StartedAction {
  isBusy: boolean
  start: () => void
}

/** While it is under way, further clicks do nothing. */
export function useAction({ show, send }: Action): StartedAction {
  const [isBusy, setBusy] = useState(false)
  const isUnderWay = useRef(false)
  const run = async () => {
    if (isUnderWay.current) return
    isUnderWay.current = true
    setBusy(true)
    const takeBack = show?.()
    try {
      await send(newKey())
    } catch (error) {
      takeBack?.()
      showToast(error instanceof ApiFailure ? error.message : 'That did not work.', { tone: 'failed' })
    } finally {
      isUnderWay.current = false
      setBusy(false)
    }
  }
  return { isBusy, start: () => void run() }
}
