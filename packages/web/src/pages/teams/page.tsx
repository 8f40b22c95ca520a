import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { Notice } from '../../parts/settings/Notice.tsx'
import { Empty, NotLoaded } from '../../parts/States.tsx'
import { showLabel } from '../../parts/labels.ts'
import { Table } from '../../parts/Table.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { organizationQuery } from '../../shell/queries.ts'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import { NewTeamDialog } from './NewTeamDialog.tsx'
import { enableTeams, teamPath, teamsQuery } from './queries.ts'

export function TeamsPage() {
  const { org } = useParams({ from: '/organizations/$org/settings/teams' })
  const { data: organization } = useQuery(organizationQuery(org))
  const [isNewOpen, setNewOpen] = useState(false)
  const mayManage = organization?.viewer?.may.administer === true
  return (
    <OrganizationSettings
      org={org}
      name="teams"
      subtitle="A team gives its members access to pipelines."
      actions={
        mayManage && (
          <Button kind="primary" icon="plus" onClick={() => setNewOpen(true)}>
            New team
          </Button>
        )
      }
    >
      {organization?.teams_enabled === false && <TeamsAreOff org={org} mayManage={mayManage} />}
      <Teams org={org} />
      {isNewOpen && <NewTeamDialog org={org} onClose={() => setNewOpen(false)} />}
    </OrganizationSettings>
  )
}

function TeamsAreOff({ org, mayManage }: { org: string; mayManage: boolean }) {
  const queryClient = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Notice action={mayManage && <Button onClick={() => setAsking(true)}>Turn teams on…</Button>}>
        Teams are off: every member sees and builds every pipeline.
      </Notice>
      {isAsking && (
        <ConfirmDialog
          title="Turn teams on?"
          action="Turn teams on"
          keep="Leave them off"
          onConfirm={async () => {
            await enableTeams(org)
            await queryClient.invalidateQueries()
            showToast('Teams are on.')
          }}
          onClose={() => setAsking(false)}
        >
          <p>
            From then on members see only the pipelines of their teams. If there is no team yet, one called
            Everyone is made, with all members. They cannot be turned off again.
          </p>
        </ConfirmDialog>
      )}
    </>
  )
}

function Teams({ org }: { org: string }) {
  const teams = useQuery(teamsQuery(org))
  if (teams.data === undefined) return <NotLoaded query={teams} />
  if (teams.data.length === 0) return <Empty title="No teams yet">An administrator can make one.</Empty>
  return (
    <Table
      label="Teams"
      rows={teams.data}
      columns={[
        {
          head: 'Name',
          titleOf: ({ name }) => name,
          render: ({ id, name }) => <Link to={teamPath(org, id)}>{showLabel(name)}</Link>,
        },
        { head: 'Description', look: 'aside', render: ({ description }) => description },
        {
          head: 'Seen by',
          look: 'aside',
          render: ({ privacy }) => (privacy === 'secret' ? 'Its members' : 'Everybody'),
        },
        {
          head: 'New members',
          look: 'aside',
          render: ({ default: isDefault }) => (isDefault ? 'Join it' : ''),
        },
      ]}
    />
  )
}
