import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { SelectField, TextField } from '../../parts/Field.tsx'
import { showLabel } from '../../parts/labels.ts'
import { NumberField } from '../../parts/settings/NumberField.tsx'
import { SettingsForm } from '../../parts/settings/SettingsForm.tsx'
import { useDraft } from '../../parts/settings/use-draft.ts'
import { NotLoaded } from '../../parts/States.tsx'
import { clustersQuery } from '../clusters/queries.ts'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import { BuildExport } from './BuildExport.tsx'
import { pipelineSettingsQuery, updatePipelineSettings, type PipelineSettings } from './queries.ts'
import { Switches } from './Switches.tsx'

export function PipelineDefaultsPage() {
  const { org } = useParams({ from: '/organizations/$org/settings/pipelines' })
  return (
    <OrganizationSettings
      org={org}
      name="pipelines"
      subtitle="What holds for all pipelines. A pipeline or a step may say otherwise."
    >
      <Content org={org} />
    </OrganizationSettings>
  )
}

function Content({ org }: { org: string }) {
  const settings = useQuery(pipelineSettingsQuery(org))
  if (settings.data === undefined) return <NotLoaded query={settings} />
  return (
    <>
      <DefaultsForm org={org} stored={settings.data} />
      <Switches org={org} settings={settings.data} />
      <BuildExport org={org} settings={settings.data} />
    </>
  )
}

const minutesInYear = 525_600
const minutes = { min: 1, max: minutesInYear }

function DefaultsForm({ org, stored }: { org: string; stored: PipelineSettings }) {
  const queryClient = useQueryClient()
  const { data: clusters = [] } = useQuery(clustersQuery(org))
  const draft = useDraft({
    default_branch: stored.default_branch,
    default_cluster_id: stored.default_cluster_id,
    default_timeout_in_minutes: stored.default_timeout_in_minutes,
    maximum_timeout_in_minutes: stored.maximum_timeout_in_minutes,
    scheduled_job_expiry_in_minutes: stored.scheduled_job_expiry_in_minutes,
  })
  const { fields, set } = draft
  const { default_timeout_in_minutes: usual, maximum_timeout_in_minutes: most } = fields
  return (
    <SettingsForm
      draft={draft}
      problem={
        usual !== null && most !== null && usual > most
          ? 'The timeout of steps is longer than the longest one.'
          : undefined
      }
      onSave={async (changed) => {
        await updatePipelineSettings(org, changed)
        await queryClient.invalidateQueries({ queryKey: pipelineSettingsQuery(org).queryKey })
      }}
    >
      <TextField
        label="Default branch of new pipelines"
        value={fields.default_branch ?? ''}
        maxLength={255}
        placeholder="main"
        onValue={(branch) => set({ default_branch: branch === '' ? null : branch })}
      />
      <SelectField
        label="Cluster of new pipelines"
        value={fields.default_cluster_id ?? ''}
        onValue={(cluster) => set({ default_cluster_id: cluster === '' ? null : cluster })}
      >
        <option value="">Each names its own</option>
        {clusters.map(({ id, name }) => (
          <option key={id} value={id}>
            {showLabel(name)}
          </option>
        ))}
      </SelectField>
      <NumberField
        {...minutes}
        label="Timeout of steps, in minutes"
        value={usual}
        placeholder="No limit"
        hint="A step that says nothing else is canceled after so long."
        onValue={(value) => set({ default_timeout_in_minutes: value })}
      />
      <NumberField
        {...minutes}
        label="Longest timeout of a step, in minutes"
        value={most}
        placeholder="No limit"
        hint="No step may run for longer, whatever it says."
        onValue={(value) => set({ maximum_timeout_in_minutes: value })}
      />
      <NumberField
        {...minutes}
        label="Longest wait for an agent, in minutes"
        value={fields.scheduled_job_expiry_in_minutes}
        placeholder="As the installation has it"
        hint="A job that no agent has taken by then expires."
        onValue={(value) => set({ scheduled_job_expiry_in_minutes: value })}
      />
    </SettingsForm>
  )
}
