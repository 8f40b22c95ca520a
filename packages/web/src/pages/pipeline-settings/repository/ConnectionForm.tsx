import { useQueryClient } from '@tanstack/react-query'
import { TextField } from '../../../parts/Field.tsx'
import { Notice } from '../../../parts/settings/Notice.tsx'
import { NumberField } from '../../../parts/settings/NumberField.tsx'
import { SettingsForm } from '../../../parts/settings/SettingsForm.tsx'
import { useDraft } from '../../../parts/settings/use-draft.ts'
import { reloadPipeline, updatePipeline, type Pipeline, type PipelineAddress } from '../queries.ts'

const longestPollSeconds = 86_400

/** Where the code is, and how builds learn of changes if no webhook tells. */
export function ConnectionForm({ address, pipeline }: { address: PipelineAddress; pipeline: Pipeline }) {
  const queryClient = useQueryClient()
  const draft = useDraft({
    repository: pipeline.repository,
    default_branch: pipeline.default_branch,
    clone_mirror_url: pipeline.clone_mirror_url ?? '',
    poll_interval_seconds: pipeline.poll_interval_seconds,
  })
  const { fields, set } = draft
  return (
    <>
      {pipeline.poll_error !== null && (
        <Notice>The repository could not be polled: {pipeline.poll_error}</Notice>
      )}
      <SettingsForm
        draft={draft}
        onSave={async (changed) => {
          await updatePipeline(address, changed)
          await reloadPipeline(queryClient)
        }}
      >
        <TextField
          label="Repository"
          value={fields.repository}
          required
          maxLength={2000}
          hint="An address that git can clone, as the agents reach it."
          onValue={(repository) => set({ repository })}
        />
        <TextField
          label="Default branch"
          value={fields.default_branch}
          required
          maxLength={255}
          onValue={(branch) => set({ default_branch: branch })}
        />
        <TextField
          label="Mirror"
          value={fields.clone_mirror_url}
          maxLength={2000}
          placeholder="https://git-cache.example.com/app.git"
          hint="An address that agents clone from instead. Empty: none."
          onValue={(url) => set({ clone_mirror_url: url })}
        />
        <NumberField
          label="Poll every so many seconds"
          min={30}
          max={longestPollSeconds}
          value={fields.poll_interval_seconds}
          placeholder="Never"
          hint="For hosts that cannot send webhooks."
          onValue={(seconds) => set({ poll_interval_seconds: seconds })}
        />
      </SettingsForm>
    </>
  )
}
