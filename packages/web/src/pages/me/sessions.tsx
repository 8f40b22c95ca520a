import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { Loading, Problem } from '../../parts/States.tsx'
import table from '../../parts/Table.module.css'
import { Time } from '../../parts/time/Time.tsx'
import { showFailure, showToast } from '../../parts/toasts/toasts.ts'
import { browserOf } from './browser-name.ts'
import { MeLayout } from './MeLayout.tsx'
import { endAllSessions, endSession, sessionsQuery, type Session } from './queries.ts'

export function SessionsPage() {
  const queryClient = useQueryClient()
  const { data: sessions, error, refetch } = useQuery(sessionsQuery())
  const [isEnding, setEnding] = useState(false)
  const end = async (session: Session) => {
    try {
      await endSession(session.id)
      if (session.current) window.location.assign('/sign-in')
      else showToast('That session is over.')
    } catch (failure) {
      showFailure(failure)
    }
    await queryClient.invalidateQueries({ queryKey: sessionsQuery().queryKey })
  }
  return (
    <MeLayout
      title="Sessions"
      actions={
        <Button kind="danger" onClick={() => setEnding(true)}>
          Sign out everywhere…
        </Button>
      }
    >
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {error === null && sessions === undefined && <Loading />}
      {sessions !== undefined && (
        <div className={table.scroll}>
          <table className={table.table} aria-label="Sessions">
            <thead>
              <tr>
                <th>Browser</th>
                <th className={table.optional}>Address</th>
                <th className={table.optional}>Signed in with</th>
                <th>Last used</th>
                <th>
                  <span className="visually-hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {sessions.map((session) => (
                <tr key={session.id}>
                  <td title={session.user_agent ?? undefined}>
                    {session.current ? 'This browser' : browserOf(session.user_agent)}
                  </td>
                  <td className={`${table.optional} ${table.muted}`}>{session.last_used_ip ?? session.ip}</td>
                  <td className={`${table.optional} ${table.muted}`}>{ways[session.opened_with]}</td>
                  <td className={table.muted}>
                    <Time at={session.last_used_at ?? session.created_at} />
                  </td>
                  <td className={table.right}>
                    <Button onClick={() => void end(session)}>Sign out</Button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {isEnding && (
        <ConfirmDialog
          title="Sign out everywhere?"
          action="Sign out everywhere"
          keep="Stay signed in"
          onConfirm={async () => {
            await endAllSessions()
            window.location.assign('/sign-in')
          }}
          onClose={() => setEnding(false)}
        >
          <p>Every browser has to sign in again, this one too. Access tokens go on working.</p>
        </ConfirmDialog>
      )}
    </MeLayout>
  )
}

const ways: Record<Session['opened_with'], string> = {
  password: 'a password',
  link: 'a link',
  sso: 'single sign-on',
  token: 'an access token',
}
