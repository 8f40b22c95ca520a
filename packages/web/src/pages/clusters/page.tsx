import { showLabel } from '../../parts/labels.ts'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { Mark } from '../../parts/mark/Mark.tsx'
import { Page } from '../../parts/Page.tsx'
import { Empty, Loading, Problem } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { organizationQuery } from '../../shell/queries.ts'
import { NewClusterDialog } from './NewClusterDialog.tsx'
import { clustersQuery } from './queries.ts'

export function ClustersPage() {
  const { org } = useParams({ from: '/organizations/$org/clusters' })
  const { data: clusters, error, refetch } = useQuery(clustersQuery(org))
  const { data: organization } = useQuery(organizationQuery(org))
  const [isNewOpen, setNewOpen] = useState(false)
  const create = organization?.viewer?.may.administer === true && (
    <Button isWrite kind="primary" icon="plus" onClick={() => setNewOpen(true)}>
      New cluster
    </Button>
  )
  return (
    <Page
      title="Clusters"
      subtitle="A cluster is a set of agents with queues, tokens and secrets of its own."
      actions={create}
    >
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {error === null && clusters === undefined && <Loading look="list" rows={3} />}
      {clusters?.length === 0 && (
        <Empty title="No clusters yet" action={create}>
          Pipelines belong to a cluster, whose agents run their jobs. Administrators of the organization make
          clusters.
        </Empty>
      )}
      {clusters !== undefined && clusters.length > 0 && (
        <Table
          label="Clusters"
          rows={clusters}
          columns={[
            {
              head: 'Name',
              render: ({ id, name, emoji, color }) => (
                <>
                  <Mark emoji={emoji} color={color} />{' '}
                  <Link to="/organizations/$org/clusters/$cluster" params={{ org, cluster: id }}>
                    {showLabel(name)}
                  </Link>
                </>
              ),
            },
            { head: 'Description', look: 'muted', render: ({ description }) => showLabel(description ?? '') },
            {
              head: 'Hosting',
              look: 'aside',
              render: ({ hosted }) => (hosted === undefined ? '' : hosted ? 'Hosted' : 'Self-hosted'),
            },
          ]}
        />
      )}
      {isNewOpen && <NewClusterDialog org={org} onClose={() => setNewOpen(false)} />}
    </Page>
  )
}
