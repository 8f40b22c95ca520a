import { useEffect } from 'react'
import { onSignIn } from '../api/session.ts'
import { queryClient } from '../api/queries.ts'
import { Button } from '../parts/Button.tsx'
import { Dialog } from '../parts/dialogs/Dialog.tsx'
import { signInAddress } from './sign-in.ts'

export function SessionOverDialog({ onClose }: { onClose: () => void }) {
  const goOn = async () => {
    onClose()
    await queryClient.invalidateQueries()
  }
  useEffect(() => onSignIn(() => void goOn()))
  return (
    <Dialog
      title="Your session is over"
      isOpen
      onClose={onClose}
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
