import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Empty, Problem } from '../../parts/States.tsx'
import { Time } from '../../parts/time/Time.tsx'
import { TokenTable } from '../../parts/TokenTable.tsx'
import { deleteToken, tokensQuery } from './queries.ts'

export function Tokens({ org, cluster }: { org: string; cluster: string }) {
  const queryClient = useQueryClient()
  const { data: tokens, error, refetch } = useQuery(tokensQuery(org, cluster))
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />
  if (tokens?.length === 0) {
    return <Empty title="No agent tokens yet">“Start an agent” makes one.</Empty>
  }
  return (
    <TokenTable
      label="Agent tokens"
      tokens={tokens ?? []}
      columns={[
        { head: 'Made by', look: 'aside', render: (token) => token.created_by?.name ?? 'The operator' },
        { head: 'Made', look: 'muted', render: (token) => <Time at={token.created_at} /> },
      ]}
      effect="Agents that use it are disconnected, and cannot connect again with it."
      onRevoke={async ({ id }) => {
        await deleteToken(org, cluster, id)
        await queryClient.invalidateQueries({ queryKey: tokensQuery(org, cluster).queryKey })
      }}
    />
  )
}
