import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { pipelineQuery } from '../../../api/resource-queries.ts'
import { SelectField, TextArea, TextField } from '../../../parts/Field.tsx'
import { showLabel } from '../../../parts/labels.ts'
import { Mark } from '../../../parts/mark/Mark.tsx'
import { NumberField } from '../../../parts/settings/NumberField.tsx'
import { SettingsForm } from '../../../parts/settings/SettingsForm.tsx'
import { useDraft } from '../../../parts/settings/use-draft.ts'
import { pipelineSettingsPath, type PipelineRights } from '../../../shell/pipeline-settings-pages.ts'
import { clustersQuery } from '../../clusters/queries.ts'
import { readVariables } from '../../pipeline/variables.ts'
import { pipelineSettingsQuery } from '../../pipeline-defaults/queries.ts'
import { PipelineSettings } from '../PipelineSettings.tsx'
import {
  reloadPipeline,
  reloadPipelines,
  updatePipeline,
  type Pipeline,
  type PipelineAddress,
} from '../queries.ts'
import { changeOf, fieldsOf, problemIn } from './fields.ts'

export function PipelineGeneralPage() {
  const address = useParams({ from: '/$org/$pipeline/settings/general' })
  return (
    <PipelineSettings address={address} name="general">
      {({ pipeline, may }) => (
        <GeneralForm key={pipeline.id} address={address} pipeline={pipeline} may={may} />
      )}
    </PipelineSettings>
  )
}

interface Props {
  address: PipelineAddress
  pipeline: Pipeline
  may: PipelineRights
}

const minutesInYear = 525_600
const minutes = { min: 1, max: minutesInYear, placeholder: 'As the organization has it' }

function GeneralForm({ address, pipeline, may }: Props) {
  const { org } = address
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const draft = useDraft(fieldsOf(pipeline))
  const { fields, set } = draft
  const save = async (changed: Partial<typeof fields>) => {
    const after = await updatePipeline(address, changeOf(changed, fields))
    if (after.slug === address.pipeline) return reloadPipeline(queryClient)
    // Nothing is at the former address any more, so it is not asked again.
    queryClient.setQueryData(pipelineQuery(org, after.slug).queryKey, { ...pipeline, ...after })
    await navigate({ to: pipelineSettingsPath(org, after.slug, 'general'), replace: true })
    return reloadPipelines(queryClient)
  }
  const variables = fields.env === null ? null : readVariables(fields.env)
  return (
    <SettingsForm draft={draft} problem={problemIn(fields)} onSave={save}>
      <TextField
        label="Name"
        value={fields.name}
        required
        maxLength={255}
        onValue={(name) => set({ name })}
      />
      <TextField
        label="Address"
        value={fields.slug}
        required
        maxLength={100}
        pattern="[a-zA-Z0-9][a-zA-Z0-9\-]*"
        hint={`It is part of every link to the pipeline: /${org}/${fields.slug}. Links with the former address end.`}
        onValue={(slug) => set({ slug })}
      />
      <TextArea
        label="Description"
        value={fields.description}
        onValue={(description) => set({ description })}
      />
      <TextField
        label="Emoji"
        value={fields.emoji}
        placeholder=":rocket:"
        pattern=":[\w+\-]+:"
        hint={
          <>
            Its name between colons. <Mark emoji={fields.emoji || null} color={fields.color || null} />
          </>
        }
        onValue={(emoji) => set({ emoji })}
      />
      <TextField
        label="Colour behind the emoji"
        value={fields.color}
        placeholder="#FFE0F1"
        pattern="#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"
        onValue={(color) => set({ color })}
      />
      <TextField
        label="Tags"
        value={fields.tags}
        placeholder="backend, payments"
        hint="At most ten words, separated by commas. The list of pipelines finds them."
        onValue={(tags) => set({ tags })}
      />
      <ClusterField
        org={org}
        pipeline={pipeline}
        value={fields.cluster_id}
        onValue={(id) => set({ cluster_id: id })}
      />
      <VisibilityField
        org={org}
        pipeline={pipeline}
        may={may}
        value={fields.visibility}
        onValue={(visibility) => set({ visibility })}
      />
      <NumberField
        {...minutes}
        label="Timeout of steps, in minutes"
        value={fields.default_command_step_timeout}
        hint="A step that says nothing else is canceled after so long."
        onValue={(value) => set({ default_command_step_timeout: value })}
      />
      <NumberField
        {...minutes}
        label="Longest timeout of a step, in minutes"
        value={fields.maximum_command_step_timeout}
        hint="No step of this pipeline may run for longer, whatever it says."
        onValue={(value) => set({ maximum_command_step_timeout: value })}
      />
      {fields.env !== null && (
        <TextArea
          label="Environment variables"
          value={fields.env}
          placeholder={'NAME=value\nOTHER=value'}
          hint="Every job gets them. Everybody who may see the pipeline may read them: keep secrets in the cluster."
          problem={variables === null || variables.ok ? undefined : variables.problem}
          onValue={(env) => set({ env })}
        />
      )}
      {fields.env === null && (
        <p className="muted">
          Environment variables of the pipeline are in its{' '}
          <Link to="/$org/$pipeline/settings/steps" params={address}>
            steps
          </Link>
          , under <code>env</code>.
        </p>
      )}
    </SettingsForm>
  )
}

interface ClusterProps {
  org: string
  pipeline: Pipeline
  value: string
  onValue: (id: string) => void
}

/** Only those who manage a cluster may put pipelines into it. */
function ClusterField({ org, pipeline, value, onValue }: ClusterProps) {
  const { data: clusters = [] } = useQuery(clustersQuery(org))
  const offered = clusters.filter(
    ({ id, viewer }) => id === pipeline.cluster_id || viewer?.may.manage === true,
  )
  return (
    <SelectField
      label="Cluster"
      value={value}
      hint={
        offered.length < clusters.length
          ? 'Its agents run the jobs. Other clusters are for those who manage them.'
          : 'Its agents run the jobs.'
      }
      onValue={onValue}
    >
      {pipeline.cluster_id === null && <option value="">None</option>}
      {offered.map(({ id, name }) => (
        <option key={id} value={id}>
          {showLabel(name)}
        </option>
      ))}
    </SelectField>
  )
}

interface VisibilityProps {
  org: string
  pipeline: Pipeline
  may: PipelineRights
  value: Pipeline['visibility']
  onValue: (visibility: Pipeline['visibility']) => void
}

/** Only administrators read whether the organization allows public pipelines. */
function VisibilityField({ org, pipeline, may, value, onValue }: VisibilityProps) {
  const { data: settings } = useQuery({
    ...pipelineSettingsQuery(org),
    enabled: may.organization.administer,
  })
  const mayBePublic = pipeline.visibility === 'public' || settings?.public_pipeline_creation.enabled === true
  return (
    <SelectField
      label="Who sees it"
      value={value}
      hint={mayBePublic ? undefined : 'Public pipelines are off in the settings of the organization.'}
      onValue={(visibility) => onValue(visibility as Pipeline['visibility'])}
    >
      <option value="private">Those in the organization who have access</option>
      {mayBePublic && <option value="public">Everybody, also without signing in</option>}
    </SelectField>
  )
}
