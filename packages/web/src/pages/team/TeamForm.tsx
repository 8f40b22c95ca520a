import { useQueryClient } from '@tanstack/react-query'
import { teamQuery } from '../../api/resource-queries.ts'
import { Checkbox, SelectField, TextArea, TextField } from '../../parts/Field.tsx'
import { FieldGroup } from '../../parts/settings/FieldGroup.tsx'
import { SettingsForm } from '../../parts/settings/SettingsForm.tsx'
import { useDraft } from '../../parts/settings/use-draft.ts'
import { privacyNames } from '../teams/NewTeamDialog.tsx'
import { teamsQuery, type Team } from '../teams/queries.ts'
import { teamRoleNames, updateTeam, type TeamAddress } from './queries.ts'

export function TeamForm({ address, team }: { address: TeamAddress; team: Team }) {
  const queryClient = useQueryClient()
  const draft = useDraft({
    name: team.name,
    description: team.description,
    privacy: team.privacy,
    is_default_team: team.default,
    default_member_role: team.default_member_role,
    members_can_create_pipelines: team.members_can_create_pipelines,
    members_can_create_suites: team.members_can_create_suites,
  })
  const { fields, set } = draft
  return (
    <SettingsForm
      draft={draft}
      onSave={async (changed) => {
        await updateTeam(address, changed)
        await Promise.all([
          queryClient.invalidateQueries({ queryKey: teamQuery(address.org, address.team).queryKey }),
          queryClient.invalidateQueries({ queryKey: teamsQuery(address.org).queryKey }),
        ])
      }}
    >
      <TextField
        label="Name"
        value={fields.name}
        required
        maxLength={255}
        onValue={(name) => set({ name })}
      />
      <TextArea
        label="Description"
        value={fields.description}
        onValue={(description) => set({ description })}
      />
      <SelectField
        label="Who sees it"
        value={fields.privacy}
        onValue={(privacy) => set({ privacy: privacy as Team['privacy'] })}
      >
        {Object.entries(privacyNames).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </SelectField>
      <SelectField
        label="Role of those who join"
        value={fields.default_member_role}
        hint="Maintainers add and remove members and pipelines."
        onValue={(role) => set({ default_member_role: role as Team['default_member_role'] })}
      >
        {Object.entries(teamRoleNames).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </SelectField>
      <Checkbox
        label="New members of the organization join this team"
        checked={fields.is_default_team}
        onCheck={(isChecked) => set({ is_default_team: isChecked })}
      />
      <FieldGroup label="Members of this team may">
        <Checkbox
          label="Create pipelines"
          checked={fields.members_can_create_pipelines}
          onCheck={(isChecked) => set({ members_can_create_pipelines: isChecked })}
        />
        <Checkbox
          label="Create test suites"
          checked={fields.members_can_create_suites}
          onCheck={(isChecked) => set({ members_can_create_suites: isChecked })}
        />
      </FieldGroup>
    </SettingsForm>
  )
}
