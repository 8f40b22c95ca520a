import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { Empty, Loading, Problem } from '../../parts/States.tsx'
import { TimeOrNever } from '../../parts/time/Time.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { TokenTable } from '../../parts/TokenTable.tsx'
import { MeLayout } from './MeLayout.tsx'
import { NewTokenDialog } from './NewTokenDialog.tsx'
import { describeScopes } from './scopes.ts'
import { revokeToken, tokensQuery, type Token } from './queries.ts'

export function TokensPage() {
  const { data, error, refetch } = useQuery(tokensQuery())
  const tokens = data?.filter(({ program }) => program === null)
  const { new: proposed } = useSearch({ from: '/-/me/tokens' })
  const navigate = useNavigate()
  const [isNewOpen, setNewOpen] = useState(proposed !== undefined)
  const create = (
    <Button isWrite kind="primary" icon="plus" onClick={() => setNewOpen(true)}>
      New token
    </Button>
  )
  return (
    <MeLayout title="Access tokens" actions={create}>
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {error === null && tokens === undefined && <Loading />}
      {tokens?.length === 0 && (
        <Empty title="No access tokens yet">Programs use them to call the API in your name.</Empty>
      )}
      {tokens !== undefined && tokens.length > 0 && <OwnTokens tokens={tokens} />}
      {isNewOpen && (
        <NewTokenDialog
          proposed={proposed}
          onClose={() => {
            setNewOpen(false)
            void navigate({ to: '/-/me/tokens', search: {}, replace: true })
          }}
        />
      )}
    </MeLayout>
  )
}

function OwnTokens({ tokens }: { tokens: readonly Token[] }) {
  const queryClient = useQueryClient()
  return (
    <TokenTable
      label="Access tokens"
      tokens={tokens}
      columns={[
        {
          head: 'Scopes',
          look: 'aside',
          titleOf: ({ scopes }) => scopes.join(', '),
          render: ({ scopes }) => describeScopes(scopes),
        },
        { head: 'Used by', look: 'aside', render: (token) => (token.is_machine ? 'A machine' : 'A person') },
        { head: 'Last used', look: 'aside', render: (token) => <TimeOrNever at={token.last_used_at} /> },
        { head: 'Expires', look: 'muted', render: (token) => <TimeOrNever at={token.expires_at} /> },
      ]}
      effect="Programs that use it are refused from then on. This cannot be undone."
      onRevoke={async ({ id, description }) => {
        await revokeToken(id)
        await queryClient.invalidateQueries({ queryKey: tokensQuery().queryKey })
        showToast(`“${description}” is revoked.`)
      }}
    />
  )
}
