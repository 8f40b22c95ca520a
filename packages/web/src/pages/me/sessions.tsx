import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { Loading, Problem } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/time/Time.tsx'
import { showFailure, showToast } from '../../parts/toasts/toasts.ts'
import { leave } from '../../shell/sign-out.ts'
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
      if (session.current) leave()
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
        <Button isWrite kind="danger" onClick={() => setEnding(true)}>
          Sign out everywhere…
        </Button>
      }
    >
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {error === null && sessions === undefined && <Loading />}
      {sessions !== undefined && (
        <Table
          label="Sessions"
          rows={sessions}
          columns={[
            {
              head: 'Browser',
              titleOf: ({ user_agent: agent }) => agent ?? undefined,
              render: ({ current, user_agent: agent }) => (current ? 'This browser' : browserOf(agent)),
            },
            { head: 'Address', look: 'aside', render: (session) => session.last_used_ip ?? session.ip },
            { head: 'Signed in with', look: 'aside', render: (session) => ways[session.opened_with] },
            {
              head: 'Last used',
              look: 'muted',
              render: (session) => <Time at={session.last_used_at ?? session.created_at} />,
            },
          ]}
          renderAction={(session) => (
            <Button isWrite onClick={() => void end(session)}>
              Sign out
            </Button>
          )}
        />
      )}
      {isEnding && (
        <ConfirmDialog
          title="Sign out everywhere?"
          action="Sign out everywhere"
          keep="Stay signed in"
          onConfirm={async () => {
            await endAllSessions()
            leave()
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
