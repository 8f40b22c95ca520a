import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { newKey } from '../../api/call.ts'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { Checkbox, SelectField, TextArea } from '../../parts/Field.tsx'
import { FieldGroup } from '../../parts/settings/FieldGroup.tsx'
import { showLabel } from '../../parts/labels.ts'
import { roleNames, type Member } from '../members/queries.ts'
import { teamsQuery } from '../teams/queries.ts'
import { readAddresses } from './addresses.ts'
import { createInvitations, type Invitation } from './queries.ts'

interface Props {
  org: string
  onInvited: (invitations: Invitation[]) => void
  onClose: () => void
}

export function InviteDialog({ org, onInvited, onClose }: Props) {
  const [text, setText] = useState('')
  const [role, setRole] = useState<Member['role']>('member')
  const [joined, setJoined] = useState<readonly string[]>([])
  const [key, setKey] = useState(newKey)
  const { data: teams = [] } = useQuery(teamsQuery(org))
  const emails = readAddresses(text)
  const create = useMutation({
    mutationFn: () => createInvitations(org, { emails, role, teams: joined.map((id) => ({ id })) }, key),
    onSuccess: onInvited,
    onError: () => setKey(newKey()),
  })
  return (
    <FormDialog
      title="Invite people"
      action={emails.length > 1 ? `Invite ${emails.length} people` : 'Invite'}
      isBusy={create.isPending}
      disabledReason={emails.length === 0 ? 'Name an address' : undefined}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextArea
        label="Email addresses"
        value={text}
        required
        placeholder="ada@example.com"
        hint="One a line, or with commas between."
        problem={create.error?.message}
        onValue={setText}
      />
      <SelectField label="Role" value={role} onValue={(value) => setRole(value as Member['role'])}>
        {Object.entries(roleNames).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </SelectField>
      {teams.length > 0 && (
        <FieldGroup label="Teams that they join">
          {teams.map(({ id, name }) => (
            <Checkbox
              key={id}
              label={showLabel(name)}
              checked={joined.includes(id)}
              onCheck={(isChecked) =>
                setJoined(isChecked ? [...joined, id] : joined.filter((each) => each !== id))
              }
            />
          ))}
        </FieldGroup>
      )}
    </FormDialog>
  )
}
