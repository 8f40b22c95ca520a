import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { Empty, Loading, Problem } from '../../parts/States.tsx'
import table from '../../parts/Table.module.css'
import { Time } from '../../parts/time/Time.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { MeLayout } from './MeLayout.tsx'
import { NewTokenDialog } from './NewTokenDialog.tsx'
import { revokeToken, tokensQuery, type Token } from './queries.ts'

export function TokensPage() {
  const { data: tokens, error, refetch } = useQuery(tokensQuery())
  const { new: proposed } = useSearch({ from: '/-/me/tokens' })
  const navigate = useNavigate()
  const [isNewOpen, setNewOpen] = useState(proposed !== undefined)
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setNewOpen(true)}>
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
      {tokens !== undefined && tokens.length > 0 && <TokenTable tokens={tokens} />}
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

function TokenTable({ tokens }: { tokens: readonly Token[] }) {
  const queryClient = useQueryClient()
  const [revoking, setRevoking] = useState<Token | null>(null)
  return (
    <>
      <div className={table.scroll}>
        <table className={table.table} aria-label="Access tokens">
          <thead>
            <tr>
              <th>Description</th>
              <th className={table.optional}>Scopes</th>
              <th className={table.optional}>Last used</th>
              <th>Expires</th>
              <th>
                <span className="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {tokens.map((token) => (
              <tr key={token.id}>
                <td>{token.description}</td>
                <td className={`${table.optional} ${table.muted}`} title={token.scopes.join(', ')}>
                  {token.scopes.length === 1 ? token.scopes[0] : `${token.scopes.length} scopes`}
                </td>
                <td className={`${table.optional} ${table.muted}`}>
                  {token.last_used_at === null ? 'Never' : <Time at={token.last_used_at} />}
                </td>
                <td className={table.muted}>
                  {token.expires_at === null ? 'Never' : <Time at={token.expires_at} />}
                </td>
                <td className={table.right}>
                  <Button kind="danger" onClick={() => setRevoking(token)}>
                    Revoke…
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {revoking !== null && (
        <ConfirmDialog
          title={`Revoke “${revoking.description}”?`}
          action="Revoke this token"
          onConfirm={async () => {
            await revokeToken(revoking.id)
            await queryClient.invalidateQueries({ queryKey: tokensQuery().queryKey })
            showToast(`“${revoking.description}” is revoked.`)
          }}
          onClose={() => setRevoking(null)}
        >
          <p>Programs that use it are refused from then on. This cannot be undone.</p>
        </ConfirmDialog>
      )}
    </>
  )
}
