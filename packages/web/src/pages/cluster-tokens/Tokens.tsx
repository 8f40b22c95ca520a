import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { Time, TimeOrNever } from '../../parts/time/Time.tsx'
import { TokenTable } from '../../parts/TokenTable.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import type { ClusterAddress } from '../cluster/queries.ts'
import { EditTokenDialog } from './EditTokenDialog.tsx'
import { describeNetworks } from './networks.ts'
import { deleteToken, tokensQuery, type AgentToken } from '../cluster/token-queries.ts'

export function Tokens({ address }: { address: ClusterAddress }) {
  const queryClient = useQueryClient()
  const list = useInfiniteQuery(tokensQuery(address))
  const [editing, setEditing] = useState<AgentToken | null>(null)
  const tokens = list.data?.pages.flatMap(({ rows }) => rows)
  if (tokens === undefined) return <NotLoaded query={list} rows={3} />
  if (tokens.length === 0)
    return <Empty title="No agent tokens yet">“Start an agent” of the cluster makes one, too.</Empty>
  return (
    <>
      <TokenTable
        label="Agent tokens"
        tokens={tokens}
        columns={[
          {
            head: 'From',
            look: 'aside',
            titleOf: ({ allowed_ip_addresses: networks }) => networks,
            render: ({ allowed_ip_addresses: networks }) => describeNetworks(networks),
          },
          { head: 'Made by', look: 'aside', render: (token) => token.created_by?.name ?? 'The operator' },
          { head: 'Made', look: 'aside', render: (token) => <Time at={token.created_at} /> },
          { head: 'Expires', look: 'muted', render: (token) => <TimeOrNever at={token.expires_at} /> },
        ]}
        effect="Agents that use it are disconnected, and cannot connect again with it."
        onEdit={setEditing}
        onRevoke={async ({ id, description }) => {
          await deleteToken(address, id)
          await queryClient.invalidateQueries({ queryKey: tokensQuery(address).queryKey })
          showToast(`“${description}” is revoked.`)
        }}
      />
      <ShowMore list={list} />
      {editing !== null && (
        <EditTokenDialog address={address} token={editing} onClose={() => setEditing(null)} />
      )}
    </>
  )
}
