import { useQueryClient } from '@tanstack/react-query'
import { SelectField, TextField } from '../../parts/Field.tsx'
import { SectionHead } from '../../parts/settings/SectionHead.tsx'
import { SettingsForm } from '../../parts/settings/SettingsForm.tsx'
import { useDraft } from '../../parts/settings/use-draft.ts'
import { disableExport, enableExport, pipelineSettingsQuery, type PipelineSettings } from './queries.ts'

type Strategy = 's3' | 'gcs'
const strategyNames: Readonly<Record<Strategy, string>> = { s3: 'S3', gcs: 'Google Cloud Storage' }

/** Where finished builds go. */
export function BuildExport({ org, settings }: { org: string; settings: PipelineSettings }) {
  const queryClient = useQueryClient()
  const { location, strategy_id: strategy, available } = settings.build_exports
  const draft = useDraft({ location: location ?? '', strategy: strategy === 'gcs' ? 'gcs' : 's3' })
  const { fields, set } = draft
  if (!available) return null
  const save = async () => {
    const wanted = fields.location.trim()
    await (wanted === ''
      ? disableExport(org)
      : enableExport(org, {
          location: wanted,
          strategy_id: fields.strategy === 'gcs' ? 'gcs' : 's3',
        }))
    await queryClient.invalidateQueries({ queryKey: pipelineSettingsQuery(org).queryKey })
  }
  return (
    <>
      <SectionHead title="Export of builds" />
      <SettingsForm draft={draft} onSave={save}>
        <TextField
          label="Bucket"
          value={fields.location}
          placeholder="acme-builds"
          hint="Finished builds are written there before they are deleted. Empty: nothing is exported."
          onValue={(value) => set({ location: value })}
        />
        <SelectField
          label="Kind of storage"
          value={fields.strategy}
          onValue={(value) => set({ strategy: value })}
        >
          {Object.entries(strategyNames).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </SelectField>
      </SettingsForm>
    </>
  )
}
