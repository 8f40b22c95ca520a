import { useEffect, useState } from 'react'
import { onSessionOver } from '../api/call.ts'
import { queryClient } from '../api/queries.ts'
import { Button } from '../parts/Button.tsx'
import { Dialog } from '../parts/Dialog.tsx'
import { userQuery } from './queries.ts'
import { signInAddress } from './sign-in.ts'

let isLeaving = false

/** Several calls are refused at once, and one page of the sign-in is enough. */
function leaveOnce(): void {
  if (isLeaving) return
  isLeaving = true
  window.location.replace(signInAddress())
}

/** Strangers are sent to the sign-in page; somebody whose session ended keeps the page behind a dialog. */
export function SessionOver() {
  const [isOver, setOver] = useState(false)
  useEffect(
    () =>
      onSessionOver(() => {
        const wasSignedIn = queryClient.getQueryData(userQuery().queryKey) !== undefined
        if (wasSignedIn) setOver(true)
        else leaveOnce()
      }),
    [],
  )
  const goOn = async () => {
    setOver(false)
    await queryClient.invalidateQueries()
  }
  return (
    <Dialog
      title="Your session is over"
      isOpen={isOver}
      onClose={() => setOver(false)}
      actions={
        <>
          <Button onClick={() => void goOn()}>I have signed in again</Button>
          <Button kind="primary" onClick={() => window.location.assign(signInAddress())}>
            Sign in
          </Button>
        </>
      }
    >
      <p>
        Sign in to go on here. What you were doing stays on this page: you may also{' '}
        <a href="/sign-in" target="_blank" rel="noopener">
          sign in in another tab
        </a>{' '}
        and come back.
      </p>
    </Dialog>
  )
}
