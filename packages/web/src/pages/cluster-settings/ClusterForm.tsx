import { useQuery, useQueryClient } from '@tanstack/react-query'
import { clusterQuery } from '../../api/resource-queries.ts'
import { Checkbox, SelectField, TextArea, TextField } from '../../parts/Field.tsx'
import { MarkFields } from '../../parts/mark/MarkFields.tsx'
import { FieldGroup } from '../../parts/settings/FieldGroup.tsx'
import { SettingsForm } from '../../parts/settings/SettingsForm.tsx'
import { useDraft } from '../../parts/settings/use-draft.ts'
import { queuesQuery, updateCluster, type Cluster, type ClusterAddress } from '../cluster/queries.ts'
import { clustersQuery } from '../clusters/queries.ts'

export function ClusterForm({ address, cluster }: { address: ClusterAddress; cluster: Cluster }) {
  const { org, cluster: id } = address
  const queryClient = useQueryClient()
  const { data: queues = [] } = useQuery(queuesQuery(org, id))
  const draft = useDraft({
    name: cluster.name,
    description: cluster.description,
    emoji: cluster.emoji ?? '',
    color: cluster.color ?? '',
    default_queue_id: cluster.default_queue_id,
    hosted_git_mirror_enabled: cluster.hosted_git_mirror_enabled === true,
    hosted_container_cache_enabled: cluster.hosted_container_cache_enabled === true,
  })
  const { fields, set } = draft
  return (
    <SettingsForm
      draft={draft}
      onSave={async (changed) => {
        await updateCluster(address, changed)
        await Promise.all([
          queryClient.invalidateQueries({ queryKey: clusterQuery(org, id).queryKey }),
          queryClient.invalidateQueries({ queryKey: clustersQuery(org).queryKey }),
        ])
      }}
    >
      <TextField
        label="Name"
        value={fields.name}
        required
        maxLength={255}
        onValue={(name) => set({ name })}
      />
      <TextArea
        label="Description"
        value={fields.description}
        onValue={(description) => set({ description })}
      />
      <MarkFields emoji={fields.emoji} color={fields.color} onChange={set} />
      <SelectField
        label="Default queue"
        value={fields.default_queue_id ?? ''}
        hint="For agents and steps that name no queue."
        onValue={(queue) => set({ default_queue_id: queue === '' ? null : queue })}
      >
        <option value="">None</option>
        {queues.map((queue) => (
          <option key={queue.id} value={queue.id}>
            {queue.key}
          </option>
        ))}
      </SelectField>
      {cluster.hosted === true && (
        <FieldGroup label="Its hosted agents share">
          <Checkbox
            label="A mirror of each repository"
            checked={fields.hosted_git_mirror_enabled}
            onCheck={(isOn) => set({ hosted_git_mirror_enabled: isOn })}
          />
          <Checkbox
            label="A cache of container images"
            checked={fields.hosted_container_cache_enabled}
            onCheck={(isOn) => set({ hosted_container_cache_enabled: isOn })}
          />
        </FieldGroup>
      )}
    </SettingsForm>
  )
}
