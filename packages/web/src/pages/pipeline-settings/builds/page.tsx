import { useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Checkbox, TextField } from '../../../parts/Field.tsx'
import { FieldGroup } from '../../../parts/settings/FieldGroup.tsx'
import { SettingsForm } from '../../../parts/settings/SettingsForm.tsx'
import { useDraft } from '../../../parts/settings/use-draft.ts'
import { PipelineSettings } from '../PipelineSettings.tsx'
import { reloadPipeline, updatePipeline, type Pipeline, type PipelineAddress } from '../queries.ts'

export function BuildSettingsPage() {
  const address = useParams({ from: '/$org/$pipeline/settings/builds' })
  return (
    <PipelineSettings address={address} name="builds" subtitle="Which builds there are, and what ends them.">
      {({ pipeline }) => <BuildsForm key={pipeline.id} address={address} pipeline={pipeline} />}
    </PipelineSettings>
  )
}

function BuildsForm({ address, pipeline }: { address: PipelineAddress; pipeline: Pipeline }) {
  const queryClient = useQueryClient()
  const draft = useDraft({
    branch_configuration: pipeline.branch_configuration ?? '',
    skip_queued_branch_builds: pipeline.skip_queued_branch_builds,
    skip_queued_branch_builds_filter: pipeline.skip_queued_branch_builds_filter ?? '',
    cancel_running_branch_builds: pipeline.cancel_running_branch_builds,
    cancel_running_branch_builds_filter: pipeline.cancel_running_branch_builds_filter ?? '',
    allow_rebuilds: pipeline.allow_rebuilds,
    junit_artifacts: pipeline.junit_artifacts ?? '',
  })
  const { fields, set } = draft
  return (
    <SettingsForm
      draft={draft}
      onSave={async (changed) => {
        await updatePipeline(address, changed)
        await reloadPipeline(queryClient)
      }}
    >
      <TextField
        label="Branches"
        value={fields.branch_configuration}
        placeholder="main release/* !gh-pages"
        hint="Patterns of the branches that are built. Empty: all."
        onValue={(value) => set({ branch_configuration: value })}
      />
      <FieldGroup label="When there is a newer build of the same branch">
        <Checkbox
          label="Skip builds that wait"
          checked={fields.skip_queued_branch_builds}
          onCheck={(isChecked) => set({ skip_queued_branch_builds: isChecked })}
        />
        <Checkbox
          label="Cancel builds that run"
          checked={fields.cancel_running_branch_builds}
          onCheck={(isChecked) => set({ cancel_running_branch_builds: isChecked })}
        />
      </FieldGroup>
      {fields.skip_queued_branch_builds && (
        <TextField
          label="Branches whose waiting builds are skipped"
          value={fields.skip_queued_branch_builds_filter}
          placeholder="!main"
          hint="Empty: all."
          onValue={(value) => set({ skip_queued_branch_builds_filter: value })}
        />
      )}
      {fields.cancel_running_branch_builds && (
        <TextField
          label="Branches whose running builds are canceled"
          value={fields.cancel_running_branch_builds_filter}
          placeholder="!main"
          hint="Empty: all."
          onValue={(value) => set({ cancel_running_branch_builds_filter: value })}
        />
      )}
      <Checkbox
        label="Builds may be rebuilt"
        checked={fields.allow_rebuilds}
        onCheck={(isChecked) => set({ allow_rebuilds: isChecked })}
      />
      <TextField
        label="Artifacts with test results"
        value={fields.junit_artifacts}
        placeholder="**/junit*.xml"
        hint="Patterns of JUnit files, separated by semicolons, besides those that steps name in test_results."
        onValue={(value) => set({ junit_artifacts: value })}
      />
    </SettingsForm>
  )
}
