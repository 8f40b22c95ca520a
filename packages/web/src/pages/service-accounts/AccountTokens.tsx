import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { Dialog } from '../../parts/dialogs/Dialog.tsx'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { TimeOrNever } from '../../parts/time/Time.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { TokenTable } from '../../parts/TokenTable.tsx'
import { accountScopes, describeScopes } from '../me/scopes.ts'
import { NewAccountTokenDialog } from './NewAccountTokenDialog.tsx'
import { revokeToken, tokensQuery, type ServiceAccount } from './queries.ts'

interface Props {
  org: string
  account: ServiceAccount
  onClose: () => void
}

export function AccountTokens({ org, account, onClose }: Props) {
  const queryClient = useQueryClient()
  const [isNewOpen, setNewOpen] = useState(false)
  const query = tokensQuery(org, account.id)
  const list = useInfiniteQuery(query)
  const reload = () => queryClient.invalidateQueries({ queryKey: query.queryKey })
  const tokens = list.data?.pages.flatMap((page) => page.rows)
  if (isNewOpen)
    return (
      <NewAccountTokenDialog
        org={org}
        account={account}
        onCreated={reload}
        onClose={() => setNewOpen(false)}
      />
    )
  return (
    <Dialog
      title={`Tokens of ${account.name}`}
      size="wide"
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button isWrite kind="primary" onClick={() => setNewOpen(true)}>
            New token
          </Button>
        </>
      }
    >
      {tokens === undefined && <NotLoaded query={list} />}
      {tokens?.length === 0 && <Empty title="There is no token.">The program cannot use the API.</Empty>}
      {tokens !== undefined && tokens.length > 0 && (
        <TokenTable
          label={`Tokens of ${account.name}`}
          tokens={tokens}
          columns={[
            {
              head: 'May use',
              titleOf: ({ scopes }) => scopes.join(', '),
              render: ({ scopes }) => describeScopes(scopes, accountScopes),
            },
            { head: 'Last used', look: 'aside', render: (token) => <TimeOrNever at={token.last_used_at} /> },
            { head: 'Ends', look: 'aside', render: (token) => <TimeOrNever at={token.expires_at} /> },
          ]}
          effect="Programs that use it are refused from then on."
          onRevoke={async ({ id, description }) => {
            await revokeToken(org, account.id, id)
            await reload()
            showToast(`“${description}” is revoked.`)
          }}
        />
      )}
      <ShowMore list={list} />
    </Dialog>
  )
}
