import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { StepsEditor } from '../../../editor/StepsEditor.tsx'
import { CopyBlock } from '../../../parts/Copy.tsx'
import { SelectField } from '../../../parts/Field.tsx'
import { showLabel } from '../../../parts/labels.ts'
import { SettingsForm } from '../../../parts/settings/SettingsForm.tsx'
import { useDraft } from '../../../parts/settings/use-draft.ts'
import { templatesQuery } from '../../pipeline-template/queries.ts'
import { PipelineSettings } from '../PipelineSettings.tsx'
import { reloadPipeline, updatePipeline, type Pipeline, type PipelineAddress } from '../queries.ts'

export function StepsPage() {
  const address = useParams({ from: '/$org/$pipeline/settings/steps' })
  return (
    <PipelineSettings
      address={address}
      name="steps"
      subtitle="What a build begins with. A step may upload more, such as those in the repository."
    >
      {({ pipeline }) => <StepsForm key={pipeline.id} address={address} pipeline={pipeline} />}
    </PipelineSettings>
  )
}

function StepsForm({ address, pipeline }: { address: PipelineAddress; pipeline: Pipeline }) {
  const queryClient = useQueryClient()
  const { data: templates = [] } = useQuery(templatesQuery(address.org))
  const stored = {
    configuration: pipeline.configuration,
    pipeline_template_uuid: pipeline.pipeline_template_uuid ?? '',
  }
  const draft = useDraft(stored)
  const { configuration, pipeline_template_uuid: templateId } = draft.fields
  const [hasErrors, setHasErrors] = useState(false)
  // The editor keeps its own text, so a new one begins when what it should show came from elsewhere.
  const [editor, setEditor] = useState({ text: configuration, round: 0 })
  if (editor.text !== configuration) setEditor({ text: configuration, round: editor.round + 1 })
  const type = (text: string) => {
    setEditor({ ...editor, text })
    draft.set({ configuration: text })
  }
  const isOfNow = templateId === stored.pipeline_template_uuid
  const template = templates.find(({ uuid }) => uuid === templateId)
  const isHere = templateId === ''
  return (
    <SettingsForm
      isWide
      draft={draft}
      problem={isHere && hasErrors ? 'Mend the steps first.' : undefined}
      onSave={async () => {
        await updatePipeline(
          address,
          isHere ? { configuration, pipeline_template_uuid: null } : { pipeline_template_uuid: templateId },
        )
        await reloadPipeline(queryClient)
      }}
    >
      {(templates.length > 0 || !isHere) && (
        <SelectField
          label="Where the steps are"
          value={templateId}
          hint={isHere ? undefined : 'They follow the template: when it is changed, so are they.'}
          onValue={(id) => draft.set({ pipeline_template_uuid: id })}
        >
          <option value="">Written here</option>
          {!isHere && template === undefined && <option value={templateId}>A template</option>}
          {templates.map(({ uuid, name }) => (
            <option key={uuid} value={uuid}>
              Template: {showLabel(name)}
            </option>
          ))}
        </SelectField>
      )}
      {isHere ? (
        <StepsEditor key={editor.round} text={editor.text} onChange={type} onChecked={setHasErrors} />
      ) : (
        <CopyBlock
          text={isOfNow ? pipeline.configuration : (template?.configuration ?? '')}
          label="steps of the template"
        />
      )}
    </SettingsForm>
  )
}
