import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { TextField } from '../../parts/Field.tsx'
import { Mark } from '../../parts/mark/Mark.tsx'
import { SettingsForm } from '../../parts/settings/SettingsForm.tsx'
import { useDraft } from '../../parts/settings/use-draft.ts'
import { NotLoaded } from '../../parts/States.tsx'
import { organizationQuery, organizationsQuery } from '../../shell/queries.ts'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import { updateOrganization } from './queries.ts'

export function GeneralPage() {
  const { org } = useParams({ from: '/organizations/$org/settings/general' })
  return (
    <OrganizationSettings org={org} name="general">
      <General org={org} />
    </OrganizationSettings>
  )
}

function General({ org }: { org: string }) {
  const organization = useQuery(organizationQuery(org))
  if (organization.data === undefined) return <NotLoaded query={organization} />
  return <GeneralForm org={org} stored={organization.data} />
}

interface FormProps {
  org: string
  stored: { name: string; emoji: string | null }
}

function GeneralForm({ org, stored }: FormProps) {
  const queryClient = useQueryClient()
  const draft = useDraft({ name: stored.name, emoji: stored.emoji ?? '' })
  return (
    <SettingsForm
      draft={draft}
      onSave={async () => {
        await updateOrganization(org, draft.changed)
        await Promise.all([
          queryClient.invalidateQueries({ queryKey: organizationQuery(org).queryKey }),
          queryClient.invalidateQueries({ queryKey: organizationsQuery().queryKey }),
        ])
      }}
    >
      <TextField
        label="Name"
        value={draft.fields.name}
        required
        maxLength={255}
        hint="As people see it. It may have the name of an emoji, such as :rocket:."
        onValue={(name) => draft.set({ name })}
      />
      <TextField
        label="Emoji"
        value={draft.fields.emoji}
        placeholder=":rocket:"
        pattern=":[\w+\-]+:"
        hint={
          <>
            Its name between colons. It stands before the name at the top of every page.{' '}
            <Mark emoji={draft.fields.emoji || null} color={null} />
          </>
        }
        onValue={(emoji) => draft.set({ emoji })}
      />
      <TextField
        label="Address"
        value={org}
        readOnly
        hint="It is part of every link to this organization, so it stays."
      />
    </SettingsForm>
  )
}
