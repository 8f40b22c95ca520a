import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { keyOf } from '../../api/queries.ts'
import { Button } from '../../parts/Button.tsx'
import { AddDialog } from '../../parts/dialogs/AddDialog.tsx'
import { Dialog } from '../../parts/dialogs/Dialog.tsx'
import { Empty } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { showFailure } from '../../parts/toasts/toasts.ts'
import { findMembers, findMembersKey } from '../team/queries.ts'
import { updateAccount, type ServiceAccount } from './queries.ts'

interface Props {
  org: string
  account: ServiceAccount
  onClose: () => void
}

/** The people who answer for an account. It keeps at least one. */
export function AccountOwners({ org, account, onClose }: Props) {
  const queryClient = useQueryClient()
  const [isAdding, setAdding] = useState(false)
  const { owners, name } = account
  const ids = owners.map(({ id }) => id)
  const set = async (owner_ids: string[]) => {
    await updateAccount(org, account.id, { owner_ids })
    await queryClient.invalidateQueries({ queryKey: keyOf('GET /v2/organizations/{org}/service_accounts') })
  }
  if (isAdding)
    return (
      <AddDialog
        title={`Add owners of ${name}`}
        searchLabel="Find a member"
        find={(text, signal) => findMembers(org, text, signal)}
        findKey={findMembersKey(org)}
        present={new Set(ids)}
        onAdd={(id) => set([...ids, id])}
        onClose={() => setAdding(false)}
      />
    )
  return (
    <Dialog
      title={`Owners of ${name}`}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button isWrite kind="primary" onClick={() => setAdding(true)}>
            Add owners…
          </Button>
        </>
      }
    >
      <p className="muted">They answer for the account and manage its tokens, besides administrators.</p>
      {owners.length === 0 ? (
        <Empty title="All owners have left.">Add one, or delete the account.</Empty>
      ) : (
        <Table
          label={`Owners of ${name}`}
          rows={owners}
          columns={[
            { head: 'Name', titleOf: (owner) => owner.name, render: (owner) => owner.name },
            { head: 'Email', look: 'muted', render: ({ email }) => email },
          ]}
          renderAction={(owner) => (
            <Button
              isWrite
              aria-label={`Remove ${owner.name}`}
              disabled={owners.length === 1}
              title={owners.length === 1 ? 'An account keeps at least one owner' : undefined}
              onClick={() => void set(ids.filter((id) => id !== owner.id)).catch(showFailure)}
            >
              Remove
            </Button>
          )}
        />
      )}
    </Dialog>
  )
}
