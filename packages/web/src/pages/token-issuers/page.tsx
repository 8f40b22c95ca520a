import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Menu } from '../../parts/Menu.tsx'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { accountScopes, describeScopes } from '../me/scopes.ts'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import { writeClaims } from './claims.ts'
import { IssuerDialog } from './IssuerDialog.tsx'
import { deleteIssuer, issuersQuery, type TokenIssuer } from './queries.ts'

export function TokenIssuersPage() {
  const { org } = useParams({ from: '/organizations/$org/settings/token-issuers' })
  const [isNewOpen, setNewOpen] = useState(false)
  return (
    <OrganizationSettings
      org={org}
      name="token-issuers"
      subtitle="Programs that have a token of a trusted issuer exchange it for a short one of a service account, so they need no stored secret."
      actions={
        <Button isWrite kind="primary" icon="plus" onClick={() => setNewOpen(true)}>
          New trusted issuer
        </Button>
      }
    >
      <Issuers org={org} />
      {isNewOpen && <IssuerDialog org={org} issuer={null} onClose={() => setNewOpen(false)} />}
    </OrganizationSettings>
  )
}

function Issuers({ org }: { org: string }) {
  const queryClient = useQueryClient()
  const list = useInfiniteQuery(issuersQuery(org))
  const [open, setOpen] = useState<{ act: 'edit' | 'delete'; issuer: TokenIssuer } | null>(null)
  const rows = list.data?.pages.flatMap((page) => page.rows)
  const close = () => setOpen(null)
  if (rows === undefined) return <NotLoaded query={list} rows={3} />
  if (rows.length === 0)
    return (
      <Empty title="No issuer is trusted">
        A CI system or a cloud gives its programs signed tokens. Trust it, and they can use the API.
      </Empty>
    )
  return (
    <>
      <Table
        label="Trusted issuers"
        rows={rows}
        columns={[
          { head: 'Issuer', titleOf: ({ issuer }) => issuer, render: ({ issuer }) => issuer },
          {
            head: 'Which of its tokens',
            titleOf: ({ claims }) => writeClaims(claims),
            render: ({ claims }) => <code>{writeClaims(claims).replaceAll('\n', ', ')}</code>,
          },
          { head: 'Act as', render: ({ service_account: account }) => account.name },
          {
            head: 'May use',
            look: 'aside',
            titleOf: ({ scopes }) => scopes.join(', '),
            render: ({ scopes }) => describeScopes(scopes, accountScopes),
          },
          { head: 'For', look: 'aside', render: ({ most_minutes: minutes }) => `${minutes} min` },
        ]}
        renderAction={(issuer) => (
          <Menu
            label={`More about ${issuer.issuer}`}
            entries={[
              { label: 'Edit…', icon: 'pencil', action: () => setOpen({ act: 'edit', issuer }) },
              {
                label: 'Delete…',
                icon: 'trash',
                isDanger: true,
                action: () => setOpen({ act: 'delete', issuer }),
              },
            ]}
          >
            <Icon name="ellipsis" />
          </Menu>
        )}
      />
      <ShowMore list={list} />
      {open?.act === 'edit' && <IssuerDialog org={org} issuer={open.issuer} onClose={close} />}
      {open?.act === 'delete' && (
        <ConfirmDialog
          title={`Trust ${open.issuer.issuer} no more?`}
          action="Delete this issuer"
          onConfirm={async () => {
            await deleteIssuer(org, open.issuer.id)
            await queryClient.invalidateQueries({ queryKey: issuersQuery(org).queryKey })
            showToast(`Tokens of ${open.issuer.issuer} are refused.`)
          }}
          onClose={close}
        >
          <p>Its tokens are exchanged no more, and those that were given for them end.</p>
        </ConfirmDialog>
      )}
    </>
  )
}
