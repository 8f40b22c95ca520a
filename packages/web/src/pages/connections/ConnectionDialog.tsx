import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { newKey } from '../../api/call.ts'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { Checkbox, SelectField, TextArea, TextField } from '../../parts/Field.tsx'
import { changedFields } from '../../parts/settings/use-draft.ts'
import { showToast } from '../../parts/toasts/toasts.ts'
import { hostTypes } from './host-types.ts'
import { connectionsQuery, createConnection, updateConnection, type Connection } from './queries.ts'

interface Props {
  org: string
  /** null: a new one. */
  connection: Connection | null
  onClose: () => void
}

type Fields = Record<
  | 'url'
  | 'token'
  | 'app_id'
  | 'installation_id'
  | 'private_key'
  | 'webhook_secret'
  | 'api_url'
  | 'repository_host',
  string
>

/** Secrets are shown masked; who leaves them so keeps them. */
const fieldsOf = (connection: Connection | null): Fields => ({
  url: connection?.url ?? '',
  token: connection?.token ?? '',
  app_id: connection?.app_id ?? '',
  installation_id: connection?.installation_id ?? '',
  private_key: connection?.private_key ?? '',
  webhook_secret: connection?.webhook_secret ?? '',
  api_url: connection?.api_url ?? '',
  repository_host: connection?.repository_host ?? '',
})

/** An empty field has no value. */
const bodyOf = (fields: Partial<Fields>) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value.trim() === '' ? null : value.trim()]),
  )

export function ConnectionDialog({ org, connection, onClose }: Props) {
  const queryClient = useQueryClient()
  const [type, setType] = useState<Connection['type']>(connection?.type ?? 'github_app')
  const [stored] = useState(() => fieldsOf(connection))
  const [fields, setFields] = useState(stored)
  const [wasForCheckouts] = useState(connection?.checkout_enabled ?? true)
  const [isForCheckouts, setForCheckouts] = useState(wasForCheckouts)
  const [key, setKey] = useState(newKey)
  const { credentials, publicUrl } = hostTypes[type]
  const save = useMutation({
    async mutationFn() {
      const { url, ...others } = changedFields(stored, fields)
      const body = {
        ...bodyOf(others),
        ...(url === undefined || url.trim() === '' ? {} : { url: url.trim() }),
        ...(isForCheckouts === wasForCheckouts ? {} : { checkout_enabled: isForCheckouts }),
      }
      if (connection === null) await createConnection(org, { type, ...body }, key)
      else await updateConnection(org, connection.id, body)
    },
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: connectionsQuery(org).queryKey })
      showToast(connection === null ? 'The host is connected.' : 'Saved.')
      onClose()
    },
    onError: () => setKey(newKey()),
  })
  const field = (name: keyof Fields, label: string) => ({
    label,
    value: fields[name],
    autoComplete: 'off',
    spellCheck: false,
    onValue: (value: string) => setFields((before) => ({ ...before, [name]: value })),
  })
  return (
    <FormDialog
      title={connection === null ? 'New connection' : connection.display_name}
      size="wide"
      action={connection === null ? 'Connect' : 'Save'}
      isBusy={save.isPending}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      {connection === null && (
        <SelectField
          label="Source host"
          value={type}
          onValue={(value) => {
            setType(value as Connection['type'])
            setFields(stored)
          }}
        >
          {Object.entries(hostTypes).map(([each, { name }]) => (
            <option key={each} value={each}>
              {name}
            </option>
          ))}
        </SelectField>
      )}
      {connection !== null && connection.problem !== null && <p role="note">{connection.problem}</p>}
      <TextField
        {...field('url', 'Address')}
        type="url"
        required={publicUrl === null}
        placeholder={publicUrl ?? 'https://git.example.com'}
        hint="Where people see the host."
      />
      {credentials === 'token' && (
        <TextField
          {...field('token', 'Access token')}
          hint="It sends commit statuses, creates webhooks, and reads repositories. Stored encrypted, and shown masked."
        />
      )}
      {credentials === 'app' && (
        <>
          <TextField {...field('app_id', 'App ID')} required hint="The settings of the App show it." />
          <TextField
            {...field('installation_id', 'Number of the installation')}
            required
            hint="At the end of the address of the installation’s settings."
          />
          <TextArea
            {...field('private_key', 'Private key')}
            required
            hint="In PEM form. Stored encrypted; afterwards its fingerprint is shown."
          />
        </>
      )}
      {credentials !== null && (
        <Checkbox
          label="Jobs check out private repositories with it: whoever may edit a pipeline chooses what they read."
          checked={isForCheckouts}
          onCheck={setForCheckouts}
        />
      )}
      <TextField
        {...field('webhook_secret', 'Secret of webhooks')}
        hint="With it webhooks from there must be signed. Stored encrypted, and shown masked."
      />
      <TextField
        {...field('repository_host', 'Host of the repositories')}
        placeholder="git.example.com"
        hint="Only where it is another than that of the address."
      />
      {credentials !== null && (
        <TextField
          {...field('api_url', 'Address of the API')}
          hint="Only where it does not follow from the address."
        />
      )}
      {save.error !== null && <p role="alert">{save.error.message}</p>}
    </FormDialog>
  )
}
