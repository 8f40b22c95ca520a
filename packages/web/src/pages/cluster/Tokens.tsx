import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { Empty, Problem } from '../../parts/States.tsx'
import table from '../../parts/Table.module.css'
import { Time } from '../../parts/time/Time.tsx'
import { deleteToken, tokensQuery, type ClusterToken } from './queries.ts'

export function Tokens({ org, cluster }: { org: string; cluster: string }) {
  const queryClient = useQueryClient()
  const { data: tokens, error, refetch } = useQuery(tokensQuery(org, cluster))
  const [revoking, setRevoking] = useState<ClusterToken | null>(null)
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />
  if (tokens?.length === 0) {
    return <Empty title="No agent tokens yet">“Start an agent” makes one.</Empty>
  }
  return (
    <>
      <div className={table.scroll}>
        <table className={table.table} aria-label="Agent tokens">
          <thead>
            <tr>
              <th>Description</th>
              <th className={table.optional}>Made by</th>
              <th>Made</th>
              <th>
                <span className="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {tokens?.map((token) => (
              <tr key={token.id}>
                <td>{token.description}</td>
                <td className={`${table.optional} ${table.muted}`}>
                  {token.created_by?.name ?? 'The operator'}
                </td>
                <td className={table.muted}>
                  <Time at={token.created_at} />
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
            await deleteToken(org, cluster, revoking.id)
            await queryClient.invalidateQueries({ queryKey: tokensQuery(org, cluster).queryKey })
          }}
          onClose={() => setRevoking(null)}
        >
          <p>Agents that use it are disconnected, and cannot connect again with it.</p>
        </ConfirmDialog>
      )}
    </>
  )
}
