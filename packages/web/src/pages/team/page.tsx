import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { teamQuery } from '../../api/resource-queries.ts'
import { Button } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { SectionHead } from '../../parts/settings/SectionHead.tsx'
import { NotLoaded } from '../../parts/States.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import { teamsQuery, type Team } from '../teams/queries.ts'
import { Members } from './Members.tsx'
import { Pipelines } from './Pipelines.tsx'
import { deleteTeam, type TeamAddress } from './queries.ts'
import { TeamForm } from './TeamForm.tsx'

export function TeamPage() {
  const address = useParams({ from: '/organizations/$org/settings/teams/$team' })
  const team = useQuery(teamQuery(address.org, address.team))
  const [isDeleting, setDeleting] = useState(false)
  if (team.data === undefined) return <NotLoaded query={team} />
  const mayManage = team.data.viewer?.may.manage === true
  return (
    <OrganizationSettings
      org={address.org}
      name="teams"
      title={team.data.name}
      subtitle={team.data.description}
      actions={
        mayManage && (
          <Button kind="danger" icon="trash" onClick={() => setDeleting(true)}>
            Delete…
          </Button>
        )
      }
    >
      <Members address={address} mayManage={mayManage} />
      <Pipelines address={address} mayManage={mayManage} />
      {mayManage && (
        <>
          <SectionHead title="Settings of the team" />
          <TeamForm address={address} team={team.data} />
        </>
      )}
      {isDeleting && <DeleteDialog address={address} team={team.data} onClose={() => setDeleting(false)} />}
    </OrganizationSettings>
  )
}

interface DeleteProps {
  address: TeamAddress
  team: Team
  onClose: () => void
}

function DeleteDialog({ address, team, onClose }: DeleteProps) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const { org } = address
  return (
    <ConfirmDialog
      title={`Delete the team ${team.name}?`}
      action="Delete this team"
      onConfirm={async () => {
        await deleteTeam(address)
        await navigate({ to: '/organizations/$org/settings/teams', params: { org } })
        await queryClient.invalidateQueries({ queryKey: teamsQuery(org).queryKey })
        showToast(`The team ${team.name} is deleted.`)
      }}
      onClose={onClose}
    >
      <p>
        Its members stay in the organization, and lose the access that only this team gave them. Its pipelines
        stay.
      </p>
    </ConfirmDialog>
  )
}
