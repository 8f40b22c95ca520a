import { useMutation } from '@tanstack/react-query'
import { Button } from '../../parts/Button.tsx'
import { SelectField } from '../../parts/Field.tsx'
import { NumberField } from '../../parts/settings/NumberField.tsx'
import { SettingsForm } from '../../parts/settings/SettingsForm.tsx'
import { useDraft } from '../../parts/settings/use-draft.ts'
import { Problem } from '../../parts/States.tsx'
import { PreviewTable } from './PreviewTable.tsx'
import type { Preview, Retention, RetentionChange } from './queries.ts'

const mostDays = 36_500

const days = [
  ['build_days', 'Builds, in days', 'With their steps, logs and artifacts.'],
  ['log_days', 'Logs, in days', '0: as long as the build or its archive.'],
  ['artifact_days', 'Files of artifacts, in days', '0: as long as the build.'],
  ['archive_days', 'Archives of builds, in days', '0: for ever.'],
] as const

interface Props {
  org: string
  stored: Retention
  /** What holds where a field is empty: "installation". */
  fallback: string
  onSave: (changed: RetentionChange) => Promise<unknown>
  onPreview: (tried: RetentionChange) => Promise<Preview>
}

/** How long an organization or a pipeline keeps what builds have made. */
export function RetentionForm({ org, stored, fallback, onSave, onPreview }: Props) {
  const { effective, build_days, log_days, artifact_days, archive_days } = stored
  const draft = useDraft({
    build_days,
    log_days,
    artifact_days,
    archive_days,
    keep_newest_builds: stored.keep_newest_builds,
    archive_builds: stored.archive_builds,
  })
  const { fields, set } = draft
  const preview = useMutation({ mutationFn: () => onPreview(fields) })
  return (
    <>
      <SettingsForm draft={draft} onSave={onSave}>
        {days.map(([name, label, hint]) => (
          <NumberField
            key={name}
            label={label}
            min={0}
            max={mostDays}
            value={fields[name]}
            placeholder={`Now: ${effective[name]}`}
            hint={`After the end of the build. ${hint} Empty: as the ${fallback} has it.`}
            onValue={(value) => set({ [name]: value })}
          />
        ))}
        <NumberField
          label="Newest builds of a pipeline that are always kept"
          min={0}
          max={1_000_000}
          value={fields.keep_newest_builds}
          placeholder={`Now: ${effective.keep_newest_builds}`}
          hint={`However old they are. Empty: as the ${fallback} has it.`}
          onValue={(value) => set({ keep_newest_builds: value })}
        />
        <SelectField
          label="Before a build is deleted"
          value={fields.archive_builds === null ? '' : String(fields.archive_builds)}
          hint="An archive keeps what happened and the logs, in one file."
          onValue={(value) => set({ archive_builds: value === '' ? null : value === 'true' })}
        >
          <option value="">As the {fallback} has it</option>
          <option value="true">It is archived</option>
          <option value="false">It is not archived</option>
        </SelectField>
        <div>
          <Button isBusy={preview.isPending} onClick={() => preview.mutate()}>
            Show what would be deleted
          </Button>
        </div>
      </SettingsForm>
      {preview.error !== null && <Problem error={preview.error} onRetry={() => preview.mutate()} />}
      {preview.data !== undefined && <PreviewTable org={org} preview={preview.data} />}
    </>
  )
}
