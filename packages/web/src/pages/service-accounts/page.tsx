import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { keyOf } from '../../api/queries.ts'
import { Button } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { showLabel } from '../../parts/labels.ts'
import { Menu } from '../../parts/Menu.tsx'
import type { MenuEntry } from '../../parts/menu/entry.ts'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { organizationQuery, userQuery } from '../../shell/queries.ts'
import { roleNames } from '../members/queries.ts'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import { AccountTokens } from './AccountTokens.tsx'
import { AccountDialog } from './AccountDialog.tsx'
import { AccountOwners } from './AccountOwners.tsx'
import { accountsQuery, deleteAccount, updateAccount, type ServiceAccount } from './queries.ts'

export function ServiceAccountsPage() {
  const { org } = useParams({ from: '/organizations/$org/settings/service-accounts' })
  const { data: organization } = useQuery(organizationQuery(org))
  const mayManage = organization?.viewer?.may.administer === true
  const [isNewOpen, setNewOpen] = useState(false)
  return (
    <OrganizationSettings
      org={org}
      name="service-accounts"
      subtitle="Members that are programs. They have owners and tokens that expire, and cannot sign in on pages."
      actions={
        mayManage && (
          <Button isWrite kind="primary" icon="plus" onClick={() => setNewOpen(true)}>
            New service account
          </Button>
        )
      }
    >
      <Accounts org={org} mayManage={mayManage} />
      {isNewOpen && <AccountDialog org={org} account={null} onClose={() => setNewOpen(false)} />}
    </OrganizationSettings>
  )
}

function Accounts({ org, mayManage }: { org: string; mayManage: boolean }) {
  const queryClient = useQueryClient()
  const list = useInfiniteQuery(accountsQuery(org))
  const { data: user } = useQuery(userQuery())
  const [open, setOpen] = useState<{ act: 'tokens' | 'owners' | 'edit' | 'delete'; id: string } | null>(null)
  const rows = list.data?.pages.flatMap((page) => page.rows)
  const reload = () =>
    queryClient.invalidateQueries({ queryKey: keyOf('GET /v2/organizations/{org}/service_accounts') })
  if (rows === undefined) return <NotLoaded query={list} />
  if (rows.length === 0)
    return (
      <Empty title="There is no service account.">
        Give a program an account of its own, so that it does not end with the membership of a person.
      </Empty>
    )
  const mayUse = ({ owners }: ServiceAccount) => mayManage || owners.some(({ id }) => id === user?.id)
  const takeOver = async (account: ServiceAccount, id: string) => {
    await updateAccount(org, account.id, { owner_ids: [id] })
    await reload()
    showToast(`You are the owner of “${account.name}”.`)
  }
  const close = () => setOpen(null)
  const shown = rows.find(({ id }) => id === open?.id)
  return (
    <>
      <Table
        label="Service accounts"
        rows={rows}
        columns={[
          { head: 'Name', titleOf: ({ name }) => name, render: ({ name }) => name },
          {
            head: 'What it does',
            look: 'aside',
            titleOf: ({ description }) => description,
            render: ({ description }) => description,
          },
          { head: 'Role', look: 'optional', render: ({ role }) => roleNames[role] },
          {
            head: 'Owners',
            titleOf: ({ owners }) => owners.map(({ name }) => name).join(', '),
            render: ({ owners }) =>
              owners.length === 0 ? 'None: all have left' : owners.map(({ name }) => name).join(', '),
          },
        ]}
        renderAction={(account) => (
          <>
            {mayManage && !account.has_owner && user !== undefined && (
              <>
                <Button
                  isWrite
                  aria-label={`Take over ${account.name}`}
                  onClick={() => void takeOver(account, user.id)}
                >
                  Take over
                </Button>{' '}
              </>
            )}
            {mayUse(account) && (
              <>
                <Button
                  aria-label={`Tokens of ${account.name}`}
                  onClick={() => setOpen({ act: 'tokens', id: account.id })}
                >
                  Tokens…
                </Button>{' '}
              </>
            )}
            {mayManage && (
              <Menu label={`More about ${showLabel(account.name)}`} entries={entriesOf(account, setOpen)}>
                <Icon name="ellipsis" />
              </Menu>
            )}
          </>
        )}
      />
      <ShowMore list={list} />
      {shown !== undefined && open?.act === 'tokens' && (
        <AccountTokens org={org} account={shown} onClose={close} />
      )}
      {shown !== undefined && open?.act === 'owners' && (
        <AccountOwners org={org} account={shown} onClose={close} />
      )}
      {shown !== undefined && open?.act === 'edit' && (
        <AccountDialog org={org} account={shown} onClose={close} />
      )}
      {shown !== undefined && open?.act === 'delete' && (
        <ConfirmDialog
          title={`Delete ${shown.name}?`}
          action="Delete this account"
          onConfirm={async () => {
            await deleteAccount(org, shown.id)
            await reload()
            showToast(`${shown.name} is deleted.`)
          }}
          onClose={close}
        >
          <p>Its tokens are revoked, and it leaves all teams. Its builds stay.</p>
        </ConfirmDialog>
      )}
    </>
  )
}

function entriesOf(
  { id }: ServiceAccount,
  open: (what: { act: 'owners' | 'edit' | 'delete'; id: string }) => void,
): MenuEntry[] {
  return [
    { label: 'Edit…', icon: 'pencil', action: () => open({ act: 'edit', id }) },
    { label: 'Owners…', icon: 'user', action: () => open({ act: 'owners', id }) },
    { label: 'Delete…', icon: 'trash', isDanger: true, action: () => open({ act: 'delete', id }) },
  ]
}
