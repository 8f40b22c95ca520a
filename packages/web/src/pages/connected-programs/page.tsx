import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { showLabel } from '../../parts/labels.ts'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { TimeOrNever } from '../../parts/time/Time.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { describeScopes } from '../me/scopes.ts'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import { programsQuery, revokeProgram, type ConnectedProgram } from './queries.ts'

export function ConnectedProgramsPage() {
  const { org } = useParams({ from: '/organizations/$org/settings/programs' })
  return (
    <OrganizationSettings
      org={org}
      name="programs"
      subtitle="Programs that members let act for them here, such as assistants and the command line."
    >
      <Programs org={org} />
    </OrganizationSettings>
  )
}

function Programs({ org }: { org: string }) {
  const queryClient = useQueryClient()
  const list = useInfiniteQuery(programsQuery(org))
  const [revoking, setRevoking] = useState<ConnectedProgram | null>(null)
  const rows = list.data?.pages.flatMap((page) => page.rows)
  if (rows === undefined) return <NotLoaded query={list} />
  if (rows.length === 0)
    return (
      <Empty title="No member has connected a program">
        Programs ask a member before they may act for them. Then they are here.
      </Empty>
    )
  return (
    <>
      <Table
        label="Connected programs"
        rows={rows}
        columns={[
          { head: 'Program', titleOf: ({ program }) => program, render: ({ program }) => program },
          { head: 'For', titleOf: ({ user }) => user.email, render: ({ user }) => user.name },
          {
            head: 'May use',
            look: 'muted',
            titleOf: ({ scopes }) => scopes.join(', '),
            render: ({ scopes }) => describeScopes(scopes),
          },
          {
            head: 'Where',
            look: 'aside',
            render: ({ reaches_others: isWider }) => (isWider ? 'Elsewhere too' : 'Only here'),
          },
          {
            head: 'Last used',
            look: 'aside',
            render: (program) => <TimeOrNever at={program.last_used_at} />,
          },
          { head: 'Ends', look: 'aside', render: (program) => <TimeOrNever at={program.expires_at} /> },
        ]}
        renderAction={(program) => (
          <Button
            isWrite
            kind="danger"
            aria-label={`Revoke ${showLabel(program.program)} for ${showLabel(program.user.name)}`}
            onClick={() => setRevoking(program)}
          >
            Revoke…
          </Button>
        )}
      />
      <ShowMore list={list} />
      {revoking !== null && (
        <ConfirmDialog
          title={`Revoke the access of ${revoking.program} for ${revoking.user.name}?`}
          action="Revoke its access"
          onConfirm={async () => {
            await revokeProgram(org, revoking.id)
            await queryClient.invalidateQueries({ queryKey: programsQuery(org).queryKey })
            showToast(`${revoking.program} may not act for ${revoking.user.name} here any more.`)
          }}
          onClose={() => setRevoking(null)}
        >
          <p>
            This organization refuses it at once
            {revoking.reaches_others ? ', and others go on' : ''}. The member can connect it again.
          </p>
        </ConfirmDialog>
      )}
    </>
  )
}
