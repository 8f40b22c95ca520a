import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { newKey } from '../../../api/call.ts'
import { FormDialog } from '../../../parts/dialogs/FormDialog.tsx'
import { Checkbox, SelectField, TextArea, TextField } from '../../../parts/Field.tsx'
import { readVariables } from '../../pipeline/variables.ts'
import type { Pipeline, PipelineAddress } from '../queries.ts'
import { isPointer, lineOf, linesOf, valueOf, variablesOf } from './mapped-values.ts'
import { createTrigger, updateTrigger, type Trigger, type TriggerFields } from './queries.ts'
import type { NewSecret } from './SecretDialog.tsx'

interface Props {
  address: PipelineAddress
  pipeline: Pipeline
  /** null: a new one. */
  trigger: Trigger | null
  /** Is given what the sender is to be told; null: nothing new. */
  onSaved: (made: NewSecret | null) => Promise<unknown>
  onClose: () => void
}

const signatures: Record<Trigger['signature'], string> = {
  hmac_sha256: 'HMAC-SHA256 of the body, as GitHub signs',
  token: 'The secret itself in a header',
  none: 'None: the address is the secret',
}

const readsPayload = 'Text, or with a slash at its beginning a JSON pointer into the payload.'

export function TriggerDialog({ address, pipeline, trigger, onSaved, onClose }: Props) {
  const [key, setKey] = useState(newKey)
  const [fields, setFields] = useState(() => ({
    name: trigger?.name ?? '',
    branch: lineOf(trigger?.branch ?? null),
    branchDefault: trigger?.branch?.default ?? '',
    commit: lineOf(trigger?.commit ?? null),
    commitDefault: trigger?.commit?.default ?? '',
    message: lineOf(trigger?.message ?? null),
    messageDefault: trigger?.message?.default ?? '',
    env: linesOf(trigger?.env ?? {}),
    condition: trigger?.condition ?? '',
    signature: trigger?.signature ?? ('hmac_sha256' as const),
    header: trigger?.signature_header ?? '',
    secret: '',
    enabled: trigger?.enabled ?? true,
  }))
  const set = (changed: Partial<typeof fields>) => setFields((before) => ({ ...before, ...changed }))
  const variables = readVariables(fields.env)
  const save = useMutation({
    async mutationFn(env: TriggerFields['env']) {
      const body = {
        name: fields.name,
        enabled: fields.enabled,
        branch: valueOf(fields.branch, fields.branchDefault),
        commit: valueOf(fields.commit, fields.commitDefault),
        message: valueOf(fields.message, fields.messageDefault),
        condition: fields.condition,
        signature: fields.signature,
        signature_header: fields.signature === 'none' || fields.header === '' ? null : fields.header,
        ...(env === undefined ? {} : { env }),
        ...(fields.secret === '' || fields.signature === 'none' ? {} : { secret: fields.secret }),
      }
      const { secret, ...saved } =
        trigger === null
          ? await createTrigger(address, body, key)
          : await updateTrigger(address, trigger.id, body)
      const isTold = trigger === null || secret !== undefined
      await onSaved(isTold ? { trigger: saved, secret: secret ?? null } : null)
    },
    onSuccess: onClose,
    onError: () => setKey(newKey()),
  })
  return (
    <FormDialog
      title={trigger === null ? 'New trigger' : 'Edit the trigger'}
      action={trigger === null ? 'Create trigger' : 'Save'}
      isBusy={save.isPending}
      onSubmit={() => {
        if (variables.ok) save.mutate(variablesOf(variables.values, trigger?.env ?? {}))
      }}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={fields.name}
        required
        maxLength={255}
        placeholder="Base image"
        onValue={(name) => set({ name })}
      />
      <TextField
        label="Branch"
        value={fields.branch}
        placeholder={pipeline.default_branch}
        hint={readsPayload}
        onValue={(branch) => set({ branch })}
      />
      {isPointer(fields.branch) && (
        <TextField
          label="Branch if the payload has none"
          value={fields.branchDefault}
          hint="Empty: such a payload is refused."
          onValue={(branchDefault) => set({ branchDefault })}
        />
      )}
      <TextField
        label="Commit"
        value={fields.commit}
        placeholder="HEAD"
        onValue={(commit) => set({ commit })}
      />
      {isPointer(fields.commit) && (
        <TextField
          label="Commit if the payload has none"
          value={fields.commitDefault}
          onValue={(commitDefault) => set({ commitDefault })}
        />
      )}
      <TextField
        label="Message of the builds"
        value={fields.message}
        placeholder={fields.name}
        onValue={(message) => set({ message })}
      />
      {isPointer(fields.message) && (
        <TextField
          label="Message if the payload has none"
          value={fields.messageDefault}
          onValue={(messageDefault) => set({ messageDefault })}
        />
      )}
      <TextArea
        label="Environment variables"
        value={fields.env}
        placeholder={'NAME=value\nVERSION=/release/tag'}
        problem={variables.ok ? undefined : variables.problem}
        onValue={(env) => set({ env })}
      />
      <TextField
        label="Only if"
        value={fields.condition}
        spellCheck={false}
        placeholder='payload("/action") == "published"'
        hint="A condition as of a step. Empty: every payload makes a build."
        onValue={(condition) => set({ condition })}
      />
      <SelectField
        label="Signature"
        value={fields.signature}
        onValue={(signature) => set({ signature: signature as Trigger['signature'], header: '' })}
      >
        {Object.entries(signatures).map(([kind, text]) => (
          <option key={kind} value={kind}>
            {text}
          </option>
        ))}
      </SelectField>
      {fields.signature !== 'none' && (
        <>
          <TextField
            label="Header"
            value={fields.header}
            maxLength={100}
            placeholder={fields.signature === 'token' ? 'Authorization' : 'X-Millrace-Signature'}
            hint={fields.signature === 'token' ? undefined : 'GitHub and many others: X-Hub-Signature-256.'}
            onValue={(header) => set({ header })}
          />
          <TextField
            label="Secret"
            type="password"
            autoComplete="off"
            value={fields.secret}
            minLength={16}
            maxLength={1000}
            hint={trigger === null ? 'Empty: one is made for you.' : 'Empty: it stays as it is.'}
            onValue={(secret) => set({ secret })}
          />
        </>
      )}
      <Checkbox
        label="It makes builds"
        checked={fields.enabled}
        onCheck={(isChecked) => set({ enabled: isChecked })}
      />
      {trigger !== null && trigger.created_by !== null && (
        <p className="muted">Its builds are then made in your name.</p>
      )}
      {save.error !== null && <p role="alert">{save.error.message}</p>}
    </FormDialog>
  )
}
