import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/time/Time.tsx'
import { showFailure, showToast } from '../../parts/toasts/toasts.ts'
import { roleNames } from '../members/queries.ts'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import { InvitationLinks } from './InvitationLinks.tsx'
import { InviteDialog } from './InviteDialog.tsx'
import { invitationsQuery, resendInvitation, revokeInvitation, type Invitation } from './queries.ts'

export function InvitationsPage() {
  const { org } = useParams({ from: '/organizations/$org/settings/invitations' })
  const queryClient = useQueryClient()
  const [isInviting, setInviting] = useState(false)
  const [made, setMade] = useState<readonly Invitation[] | null>(null)
  const invite = (
    <Button kind="primary" icon="plus" onClick={() => setInviting(true)}>
      Invite people
    </Button>
  )
  const reload = () => queryClient.invalidateQueries({ queryKey: invitationsQuery(org).queryKey })
  const show = async (invitations: readonly Invitation[]) => {
    setInviting(false)
    setMade(invitations)
    await reload()
  }
  return (
    <OrganizationSettings
      org={org}
      name="invitations"
      subtitle="An invitation holds for seven days. At most 20 can be open."
      actions={invite}
    >
      <Invitations org={org} onResent={(invitation) => show([invitation])} onRevoked={reload} />
      {isInviting && (
        <InviteDialog
          org={org}
          onInvited={(invitations) => void show(invitations)}
          onClose={() => setInviting(false)}
        />
      )}
      {made !== null && <InvitationLinks invitations={made} onClose={() => setMade(null)} />}
    </OrganizationSettings>
  )
}

interface Props {
  org: string
  onResent: (invitation: Invitation) => Promise<void>
  onRevoked: () => Promise<void>
}

function Invitations({ org, onResent, onRevoked }: Props) {
  const list = useInfiniteQuery(invitationsQuery(org))
  const [revoking, setRevoking] = useState<Invitation | null>(null)
  const rows = list.data?.pages.flatMap((page) => page.rows)
  if (rows === undefined) return <NotLoaded query={list} />
  if (rows.length === 0)
    return <Empty title="No open invitations">Whoever you invite is listed here until they accept.</Empty>
  const resend = async ({ id }: Invitation) => {
    try {
      await onResent(await resendInvitation(org, id))
    } catch (error) {
      showFailure(error)
    }
  }
  return (
    <>
      <Table
        label="Open invitations"
        rows={rows}
        columns={[
          { head: 'Email', titleOf: ({ email }) => email, render: ({ email }) => email },
          { head: 'Role', look: 'optional', render: ({ role }) => roleNames[role] },
          {
            head: 'Teams',
            look: 'aside',
            render: ({ teams }) => teams.map(({ slug }) => slug).join(', '),
          },
          { head: 'Invited by', look: 'aside', render: ({ created_by: by }) => by?.name ?? '' },
          { head: 'When', look: 'aside', render: ({ created_at: at }) => <Time at={at} /> },
        ]}
        renderAction={(invitation) => (
          <>
            <Button onClick={() => void resend(invitation)}>Send again</Button>{' '}
            <Button kind="danger" onClick={() => setRevoking(invitation)}>
              Revoke…
            </Button>
          </>
        )}
      />
      <ShowMore list={list} />
      {revoking !== null && (
        <ConfirmDialog
          title={`Revoke the invitation of ${revoking.email}?`}
          action="Revoke it"
          onConfirm={async () => {
            await revokeInvitation(org, revoking.id)
            await onRevoked()
            showToast('The invitation is revoked.')
          }}
          onClose={() => setRevoking(null)}
        >
          <p>The link that was sent does not work any more.</p>
        </ConfirmDialog>
      )}
    </>
  )
}
