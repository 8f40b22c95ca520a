import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Checkbox, SelectField, TextArea } from '../../parts/Field.tsx'
import { SettingsForm } from '../../parts/settings/SettingsForm.tsx'
import { useDraft } from '../../parts/settings/use-draft.ts'
import { NotLoaded } from '../../parts/States.tsx'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import { apiSettingsQuery, updateApiSettings, type ApiSettings, type ApiSettingsChange } from './queries.ts'

const notAvailable = 'The operator of this installation has not made it available to this organization.'

export function ApiSettingsPage() {
  const { org } = useParams({ from: '/organizations/$org/settings/api' })
  return (
    <OrganizationSettings
      org={org}
      name="api"
      subtitle="Who may use the API, with which tokens and from where. Pages use the API too."
    >
      <Content org={org} />
    </OrganizationSettings>
  )
}

function Content({ org }: { org: string }) {
  const settings = useQuery(apiSettingsQuery(org))
  if (settings.data === undefined) return <NotLoaded query={settings} />
  return <ApiForm org={org} stored={settings.data} />
}

type Days = NonNullable<ApiSettingsChange['revoke_inactive_tokens_after_days']>
const days: readonly Days[] = [30, 60, 90, 180, 365]

function ApiForm({ org, stored }: { org: string; stored: ApiSettings }) {
  const queryClient = useQueryClient()
  const [isForced, setForced] = useState(false)
  const { features } = stored
  const draft = useDraft({
    allowed_ip_addresses: stored.allowed_ip_addresses ?? '',
    revoke_inactive_tokens_after_days: stored.revoke_inactive_tokens_after_days,
    restrict_user_api_token_creation: stored.restrict_user_api_token_creation,
  })
  const { fields, changed, set } = draft
  const hasNewRanges = changed.allowed_ip_addresses !== undefined
  const save = async () => {
    const { allowed_ip_addresses: ranges, revoke_inactive_tokens_after_days: after, ...rest } = changed
    const known = days.find((each) => each === after) ?? null
    await updateApiSettings(org, {
      ...rest,
      ...(ranges === undefined ? {} : { allowed_ip_addresses: ranges.trim() || null, force: isForced }),
      ...(after === undefined ? {} : { revoke_inactive_tokens_after_days: known }),
    })
    setForced(false)
    await queryClient.invalidateQueries({ queryKey: apiSettingsQuery(org).queryKey })
  }
  return (
    <SettingsForm draft={draft} onSave={save}>
      <TextArea
        label="Allowed networks"
        value={fields.allowed_ip_addresses}
        disabled={!features.api_ip_allow_list}
        spellCheck={false}
        placeholder="192.0.2.0/24 2001:db8::/32"
        hint={
          features.api_ip_allow_list
            ? 'Address ranges, separated by spaces. Requests from elsewhere are refused, those of pages too. Empty: from anywhere.'
            : notAvailable
        }
        onValue={(ranges) => set({ allowed_ip_addresses: ranges })}
      />
      {hasNewRanges && (
        <Checkbox
          label="Save it even if my own address is not in them, which locks me out"
          checked={isForced}
          onCheck={setForced}
        />
      )}
      <SelectField
        label="Unused access tokens"
        value={String(fields.revoke_inactive_tokens_after_days ?? '')}
        disabled={!features.inactive_api_token_revocation}
        hint={
          features.inactive_api_token_revocation
            ? 'A token that nobody has used for so long does not reach this organization any more.'
            : notAvailable
        }
        onValue={(value) => set({ revoke_inactive_tokens_after_days: value === '' ? null : Number(value) })}
      >
        <option value="">Stay as they are</option>
        {days.map((each) => (
          <option key={each} value={each}>
            Are revoked after {each} days
          </option>
        ))}
      </SelectField>
      <Checkbox
        label="Only administrators may make access tokens for this organization"
        checked={fields.restrict_user_api_token_creation}
        onCheck={(isChecked) => set({ restrict_user_api_token_creation: isChecked })}
      />
    </SettingsForm>
  )
}
