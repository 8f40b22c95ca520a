import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Empty, NotLoaded } from '../../parts/States.tsx'
import { TimeOrNever } from '../../parts/time/Time.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { TokenTable } from '../../parts/TokenTable.tsx'
import { MeLayout } from './MeLayout.tsx'
import { describeScopes } from './scopes.ts'
import { revokeToken, tokensQuery } from './queries.ts'

/** Programs that the person has let act for them, each with an access token of its own. */
export function ProgramsPage() {
  const queryClient = useQueryClient()
  const tokens = useQuery(tokensQuery())
  const programs = tokens.data?.filter(({ program }) => program !== null)
  return (
    <MeLayout title="Connected programs">
      {programs === undefined && <NotLoaded query={tokens} />}
      {programs?.length === 0 && (
        <Empty title="No program is connected">
          A program, such as an assistant that uses MCP, asks you before it may act for you. Then it is here.
        </Empty>
      )}
      {programs !== undefined && programs.length > 0 && (
        <TokenTable
          label="Connected programs"
          tokens={programs}
          columns={[
            {
              head: 'May use',
              titleOf: ({ scopes }) => scopes.join(', '),
              render: ({ scopes }) => describeScopes(scopes),
            },
            {
              head: 'Organizations',
              look: 'aside',
              render: ({ organization_slugs: slugs }) => slugs?.join(', ') ?? 'All of yours',
            },
            { head: 'Last used', look: 'aside', render: (token) => <TimeOrNever at={token.last_used_at} /> },
            { head: 'Ends', look: 'aside', render: (token) => <TimeOrNever at={token.expires_at} /> },
          ]}
          effect="It is refused from then on, until you let it act for you again."
          onRevoke={async ({ id, description }) => {
            await revokeToken(id)
            await queryClient.invalidateQueries({ queryKey: tokensQuery().queryKey })
            showToast(`“${description}” may not act for you any more.`)
          }}
        />
      )}
    </MeLayout>
  )
}
