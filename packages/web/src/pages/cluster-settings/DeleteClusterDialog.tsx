import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { deleteCluster, type Cluster, type ClusterAddress } from '../cluster/queries.ts'
import { clustersQuery } from '../clusters/queries.ts'

interface Props {
  address: ClusterAddress
  cluster: Cluster
  onClose: () => void
}

export function DeleteClusterDialog({ address, cluster, onClose }: Props) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const { org } = address
  return (
    <ConfirmDialog
      title={`Delete the cluster ${cluster.name}?`}
      action="Delete this cluster"
      typedName={cluster.name}
      onConfirm={async () => {
        await deleteCluster(address)
        await navigate({ to: '/organizations/$org/clusters', params: { org } })
        await queryClient.invalidateQueries({ queryKey: clustersQuery(org).queryKey })
        showToast(`The cluster ${cluster.name} is deleted.`)
      }}
      onClose={onClose}
    >
      <p>
        Its queues, agent tokens, secrets and maintainers go with it. It must have no pipeline and no
        connected agent.
      </p>
    </ConfirmDialog>
  )
}
