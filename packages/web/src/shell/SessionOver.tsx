import { lazy, Suspense, useEffect, useState } from 'react'
import { onSessionOver } from '../api/call.ts'
import { queryClient } from '../api/queries.ts'
import { userQuery } from './queries.ts'
import { signInAddress } from './sign-in.ts'

const SessionOverDialog = lazy(() =>
  import('./SessionOverDialog.tsx').then((module) => ({ default: module.SessionOverDialog })),
)

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
  return (
    isOver && (
      <Suspense>
        <SessionOverDialog onClose={() => setOver(false)} />
      </Suspense>
    )
  )
}
