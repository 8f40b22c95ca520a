import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Button } from '../../parts/Button.tsx'
import { SelectField } from '../../parts/Field.tsx'
import { NumberField } from '../../parts/settings/NumberField.tsx'
import { SettingsForm } from '../../parts/settings/SettingsForm.tsx'
import { useDraft } from '../../parts/settings/use-draft.ts'
import { NotLoaded, Problem } from '../../parts/States.tsx'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import { PreviewTable } from './PreviewTable.tsx'
import { previewRetention, retentionQuery, updateRetention, type Retention } from './queries.ts'

export function RetentionPage() {
  const { org } = useParams({ from: '/organizations/$org/settings/retention' })
  return (
    <OrganizationSettings
      org={org}
      name="retention"
      subtitle="How long builds, logs and artifacts are kept. A pipeline may have its own settings."
    >
      <Content org={org} />
    </OrganizationSettings>
  )
}

function Content({ org }: { org: string }) {
  const retention = useQuery(retentionQuery(org))
  if (retention.data === undefined) return <NotLoaded query={retention} />
  return <RetentionForm org={org} stored={retention.data} />
}

const mostDays = 36_500

const days = [
  ['build_days', 'Builds, in days', 'With their steps, logs and artifacts.'],
  ['log_days', 'Logs, in days', '0: as long as the build or its archive.'],
  ['artifact_days', 'Files of artifacts, in days', '0: as long as the build.'],
  ['archive_days', 'Archives of builds, in days', '0: for ever.'],
] as const

function RetentionForm({ org, stored }: { org: string; stored: Retention }) {
  const queryClient = useQueryClient()
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
  const preview = useMutation({ mutationFn: () => previewRetention(org, fields) })
  return (
    <>
      <SettingsForm
        draft={draft}
        onSave={async (changed) => {
          await updateRetention(org, changed)
          await queryClient.invalidateQueries({ queryKey: retentionQuery(org).queryKey })
        }}
      >
        {days.map(([name, label, hint]) => (
          <NumberField
            key={name}
            label={label}
            min={0}
            max={mostDays}
            value={fields[name]}
            placeholder={`Now: ${effective[name]}`}
            hint={`After the end of the build. ${hint} Empty: as the installation has it.`}
            onValue={(value) => set({ [name]: value })}
          />
        ))}
        <NumberField
          label="Newest builds of each pipeline that are always kept"
          min={0}
          max={1_000_000}
          value={fields.keep_newest_builds}
          placeholder={`Now: ${effective.keep_newest_builds}`}
          hint="However old they are. Empty: as the installation has it."
          onValue={(value) => set({ keep_newest_builds: value })}
        />
        <SelectField
          label="Before a build is deleted"
          value={fields.archive_builds === null ? '' : String(fields.archive_builds)}
          hint="An archive keeps what happened and the logs, in one file."
          onValue={(value) => set({ archive_builds: value === '' ? null : value === 'true' })}
        >
          <option value="">As the installation has it</option>
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
