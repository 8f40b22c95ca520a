import { useQueryClient } from '@tanstack/react-query'
import { Checkbox, SelectField, TextField } from '../../../parts/Field.tsx'
import { FieldGroup } from '../../../parts/settings/FieldGroup.tsx'
import { SectionHead } from '../../../parts/settings/SectionHead.tsx'
import { SettingsForm } from '../../../parts/settings/SettingsForm.tsx'
import { useDraft } from '../../../parts/settings/use-draft.ts'
import { reloadPipeline, updatePipeline, type Pipeline, type PipelineAddress } from '../queries.ts'
import { groupsOf, type Settings } from './provider-settings.ts'

const triggers = {
  code: 'Pushes and pull requests',
  deployment: 'Deployments alone',
  fork: 'Forks alone',
  none: 'Nothing: builds begin by schedules, the API and people',
}

/** What is built and reported for events of the repository's host. */
export function ProviderForm({ address, pipeline }: { address: PipelineAddress; pipeline: Pipeline }) {
  const queryClient = useQueryClient()
  const draft = useDraft<Settings>(pipeline.provider.settings)
  const { fields, set } = draft
  const textOf = (name: string) => String(fields[name] ?? '')
  const isOn = (name: string) => fields[name] === true
  return (
    <>
      <SectionHead title="What is built" />
      <SettingsForm
        draft={draft}
        onSave={async (changed) => {
          await updatePipeline(address, {
            provider_settings: changed as Record<string, string | boolean | null>,
          })
          await reloadPipeline(queryClient)
        }}
      >
        {fields['trigger_mode'] !== undefined && (
          <SelectField
            label="Builds begin by"
            value={textOf('trigger_mode')}
            onValue={(mode) => set({ trigger_mode: mode })}
          >
            {Object.entries(triggers).map(([mode, text]) => (
              <option key={mode} value={mode}>
                {text}
              </option>
            ))}
          </SelectField>
        )}
        {groupsOf(fields).map(({ title, settings }) => (
          <FieldGroup key={title} label={title}>
            {settings.map(([name, label]) => (
              <Checkbox
                key={name}
                label={label}
                checked={isOn(name)}
                onCheck={(isChecked) => set({ [name]: isChecked })}
              />
            ))}
          </FieldGroup>
        ))}
        <FieldGroup label="Only what matches">
          <Checkbox
            label="A condition, as in the if of a step"
            checked={isOn('filter_enabled')}
            onCheck={(isChecked) => set({ filter_enabled: isChecked })}
          />
          <Checkbox
            label="Branches of pull requests"
            checked={isOn('pull_request_branch_filter_enabled')}
            onCheck={(isChecked) => set({ pull_request_branch_filter_enabled: isChecked })}
          />
        </FieldGroup>
        {isOn('filter_enabled') && (
          <TextField
            label="Condition"
            value={textOf('filter_condition')}
            placeholder='build.pull_request.labels includes "ci"'
            spellCheck={false}
            onValue={(condition) => set({ filter_condition: condition })}
          />
        )}
        {isOn('pull_request_branch_filter_enabled') && (
          <TextField
            label="Branches of pull requests that are built"
            value={textOf('pull_request_branch_filter_configuration')}
            placeholder="feature/* !wip/*"
            spellCheck={false}
            onValue={(patterns) => set({ pull_request_branch_filter_configuration: patterns })}
          />
        )}
        <CommandWord of="issue" event="build_issue_comment_created" fields={fields} set={set} />
        <CommandWord
          of="review"
          event="build_pull_request_review_comment_created"
          fields={fields}
          set={set}
        />
      </SettingsForm>
    </>
  )
}

interface CommandProps {
  of: 'issue' | 'review'
  /** The setting that makes such comments count. */
  event: string
  fields: Settings
  set: (change: Settings) => void
}

function CommandWord({ of, event, fields, set }: CommandProps) {
  if (fields[event] !== true) return null
  const kind = of === 'issue' ? 'Comments' : 'Review comments'
  return (
    <>
      <TextField
        label={`Command word of ${kind.toLowerCase()}`}
        value={String(fields[`${of}_comment_command_word`] ?? '')}
        onValue={(word) => set({ [`${of}_comment_command_word`]: word })}
      />
      <SelectField
        label={`${kind} count that`}
        value={String(fields[`${of}_comment_match_mode`] ?? 'exact')}
        onValue={(mode) => set({ [`${of}_comment_match_mode`]: mode })}
      >
        <option value="exact">Are this word</option>
        <option value="contains">Contain it</option>
      </SelectField>
    </>
  )
}
