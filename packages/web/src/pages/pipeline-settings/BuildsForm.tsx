import { useState } from 'react'
import { Checkbox, Form, TextArea, TextField } from '../../parts/Field.tsx'
import { SaveBar } from './SaveBar.tsx'
import { useUpdatePipeline, type Pipeline } from './update.ts'

const fieldsOf = (pipeline: Pipeline) => ({
  name: pipeline.name,
  description: pipeline.description,
  branch_configuration: pipeline.branch_configuration ?? '',
  skip_queued_branch_builds: pipeline.skip_queued_branch_builds,
  cancel_running_branch_builds: pipeline.cancel_running_branch_builds,
  allow_rebuilds: pipeline.allow_rebuilds,
  junit_artifacts: pipeline.junit_artifacts ?? '',
})

export function BuildsForm({ org, pipeline }: { org: string; pipeline: Pipeline }) {
  const before = fieldsOf(pipeline)
  const [fields, setFields] = useState(before)
  const update = useUpdatePipeline(org, pipeline)
  const set = (change: Partial<typeof fields>) => setFields({ ...fields, ...change })
  return (
    <Form
      onSubmit={() =>
        update.mutate({
          ...fields,
          branch_configuration: fields.branch_configuration || null,
          junit_artifacts: fields.junit_artifacts || null,
        })
      }
    >
      <TextField label="Name" value={fields.name} required onValue={(value) => set({ name: value })} />
      <TextArea
        label="Description"
        value={fields.description}
        onValue={(value) => set({ description: value })}
      />
      <TextField
        label="Branches"
        value={fields.branch_configuration}
        placeholder="main release/* !gh-pages"
        hint="Patterns of the branches that are built. Empty: all."
        onValue={(value) => set({ branch_configuration: value })}
      />
      <Checkbox
        label="Skip builds that wait, when a newer one of the same branch is there"
        checked={fields.skip_queued_branch_builds}
        onCheck={(isChecked) => set({ skip_queued_branch_builds: isChecked })}
      />
      <Checkbox
        label="Cancel running builds, when a newer one of the same branch is there"
        checked={fields.cancel_running_branch_builds}
        onCheck={(isChecked) => set({ cancel_running_branch_builds: isChecked })}
      />
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
      <SaveBar
        isChanged={JSON.stringify(fields) !== JSON.stringify(before)}
        isSaving={update.isPending}
        error={update.error}
      />
    </Form>
  )
}
