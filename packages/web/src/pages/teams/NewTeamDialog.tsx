import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { newKey } from '../../api/call.ts'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { SelectField, TextArea, TextField } from '../../parts/Field.tsx'
import { createTeam, teamPath, type Team } from './queries.ts'

export const privacyNames = {
  visible: 'Everybody in the organization sees it',
  secret: 'Only its members and administrators see it',
} as const

export function NewTeamDialog({ org, onClose }: { org: string; onClose: () => void }) {
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [privacy, setPrivacy] = useState<Team['privacy']>('visible')
  const [key, setKey] = useState(newKey)
  const create = useMutation({
    mutationFn: () => createTeam(org, { name, description, privacy }, key),
    onSuccess: ({ id }) => navigate({ to: teamPath(org, id) }),
    onError: () => setKey(newKey()),
  })
  return (
    <FormDialog
      title="New team"
      action="Create team"
      isBusy={create.isPending}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        required
        maxLength={255}
        problem={create.error?.message}
        onValue={setName}
      />
      <TextArea label="Description" value={description} onValue={setDescription} />
      <SelectField
        label="Who sees it"
        value={privacy}
        onValue={(value) => setPrivacy(value as Team['privacy'])}
      >
        {Object.entries(privacyNames).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </SelectField>
    </FormDialog>
  )
}
