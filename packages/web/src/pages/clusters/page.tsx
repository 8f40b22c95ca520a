import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Label } from '../../parts/Label.tsx'
import { Page } from '../../parts/Page.tsx'
import { Empty, Loading, Problem } from '../../parts/States.tsx'
import table from '../../parts/Table.module.css'
import { clustersQuery } from './queries.ts'

export function ClustersPage() {
  const { org } = useParams({ from: '/organizations/$org/clusters' })
  const { data: clusters, error, refetch } = useQuery(clustersQuery(org))
  return (
    <Page
      title="Clusters"
      subtitle="A cluster is a set of agents with queues, tokens and secrets of its own."
    >
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {error === null && clusters === undefined && <Loading />}
      {clusters?.length === 0 && (
        <Empty title="No clusters yet">An administrator can create one over the API.</Empty>
      )}
      {clusters !== undefined && clusters.length > 0 && (
        <div className={table.scroll}>
          <table className={table.table} aria-label="Clusters">
            <thead>
              <tr>
                <th>Name</th>
                <th>Description</th>
                <th className={table.optional}>Agents</th>
              </tr>
            </thead>
            <tbody>
              {clusters.map(({ id, name, description, hosted }) => (
                <tr key={id}>
                  <td>
                    <Link to="/organizations/$org/clusters/$cluster" params={{ org, cluster: id }}>
                      <Label text={name} />
                    </Link>
                  </td>
                  <td className={table.muted}>{description}</td>
                  <td className={`${table.optional} ${table.muted}`}>
                    {hosted === true ? 'Hosted' : 'Self-hosted'}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Page>
  )
}
