import { call } from '../api/call.ts'
import { forgetSession } from '../api/session.ts'
import { showFailure } from '../parts/toasts/toasts.ts'

/** Ends this browser's session. */
export async function signOut(): Promise<void> {
  try {
    const sessions = await call('GET /v2/user/sessions', { params: {}, query: { per_page: 100 } })
    const current = sessions.find((session) => session.current)
    if (current !== undefined)
      await call('DELETE /v2/user/sessions/{session}', { params: { session: current.id } })
    leave()
  } catch (error) {
    showFailure(error)
  }
}

/** The session is over. */
export function leave(): void {
  forgetSession()
  window.location.assign('/sign-in')
}
