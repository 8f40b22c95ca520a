import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { keyOf } from '../../api/queries.ts'
import { Button, LinkButton } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { RowSelect } from '../../parts/settings/RowSelect.tsx'
import { SearchBox } from '../../parts/SearchBox.tsx'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { organizationQuery, userQuery } from '../../shell/queries.ts'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import { deleteMember, membersQuery, roleNames, updateMember, type Member } from './queries.ts'

const ssoNames = { required: 'Required', optional: 'Optional' } as const

export function MembersPage() {
  const { org } = useParams({ from: '/organizations/$org/settings/members' })
  const { q = '' } = useSearch({ from: '/organizations/$org/settings/members' })
  const navigate = useNavigate({ from: '/organizations/$org/settings/members' })
  const { data: organization } = useQuery(organizationQuery(org))
  const mayManage = organization?.viewer?.may.administer === true
  return (
    <OrganizationSettings
      org={org}
      name="members"
      subtitle="Administrators may do everything. What members may do with a pipeline is decided by teams, if they are on."
      actions={
        mayManage && (
          <LinkButton to="/organizations/$org/settings/invitations" params={{ org }} icon="plus">
            Invite people
          </LinkButton>
        )
      }
    >
      <SearchBox
        label="Find a member"
        text={q}
        onSearch={(text) => void navigate({ search: text === '' ? {} : { q: text }, replace: true })}
      />
      <Members org={org} q={q} mayManage={mayManage} />
    </OrganizationSettings>
  )
}

function Members({ org, q, mayManage }: { org: string; q: string; mayManage: boolean }) {
  const queryClient = useQueryClient()
  const list = useInfiniteQuery(membersQuery(org, q))
  const { data: user } = useQuery(userQuery())
  const [removing, setRemoving] = useState<Member | null>(null)
  const rows = list.data?.pages.flatMap((page) => page.rows)
  const reload = () =>
    queryClient.invalidateQueries({ queryKey: keyOf('GET /v2/organizations/{org}/members') })
  const change = async (member: Member, body: Parameters<typeof updateMember>[2]) => {
    await updateMember(org, member.id, body)
    await reload()
  }
  if (rows === undefined) return <NotLoaded query={list} />
  if (rows.length === 0) return <Empty title="Nobody is found.">No name and no address has “{q}”.</Empty>
  const mayChange = (member: Member) => mayManage && member.id !== user?.id
  return (
    <>
      <Table
        label="Members"
        rows={rows}
        columns={[
          {
            head: 'Name',
            titleOf: ({ name }) => name,
            render: (member) => (member.id === user?.id ? `${member.name} (you)` : member.name),
          },
          { head: 'Email', look: 'aside', titleOf: ({ email }) => email, render: ({ email }) => email },
          {
            head: 'Role',
            render: (member) =>
              mayChange(member) ? (
                <RowSelect
                  label={`Role of ${member.name}`}
                  value={member.role}
                  options={roleNames}
                  onChoose={(role) => change(member, { role })}
                />
              ) : (
                roleNames[member.role]
              ),
          },
          {
            head: 'Single sign-on',
            look: 'optional',
            render: (member) =>
              member.sso_mode === undefined ? null : mayChange(member) ? (
                <RowSelect
                  label={`Single sign-on of ${member.name}`}
                  value={member.sso_mode}
                  options={ssoNames}
                  onChoose={(mode) => change(member, { sso_mode: mode })}
                />
              ) : (
                ssoNames[member.sso_mode]
              ),
          },
        ]}
        {...(mayManage
          ? {
              renderAction: (member: Member) =>
                mayChange(member) && (
                  <Button
                    kind="danger"
                    aria-label={`Remove ${member.name}`}
                    onClick={() => setRemoving(member)}
                  >
                    Remove…
                  </Button>
                ),
            }
          : {})}
      />
      <ShowMore list={list} />
      {removing !== null && (
        <ConfirmDialog
          title={`Remove ${removing.name}?`}
          action="Remove this member"
          onConfirm={async () => {
            await deleteMember(org, removing.id)
            await reload()
            showToast(`${removing.name} is no member any more.`)
          }}
          onClose={() => setRemoving(null)}
        >
          <p>
            They leave all teams, and their access tokens do not reach this organization any more. Their
            builds stay.
          </p>
        </ConfirmDialog>
      )}
    </>
  )
}
