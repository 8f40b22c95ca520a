import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { newKey } from '../../api/call.ts'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { SelectField, TextArea, TextField } from '../../parts/Field.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { PipelineField } from './PipelineField.tsx'
import { actionNames, createRule, rulesQuery, updateRule, type Rule } from './queries.ts'

interface Props {
  org: string
  /** null: a new one. */
  rule: Rule | null
  onClose: () => void
}

/** Makes a rule, or changes one. What a rule allows stays. */
export function RuleDialog({ org, rule, onClose }: Props) {
  const queryClient = useQueryClient()
  const [type, setType] = useState<Rule['type']>(rule?.type ?? 'pipeline.trigger_build.pipeline')
  const [fields, setFields] = useState({
    source: rule?.source?.slug ?? rule?.source_uuid ?? '',
    target: rule?.target?.slug ?? rule?.target_uuid ?? '',
    conditions: rule?.conditions.join('\n') ?? '',
    description: rule?.description ?? '',
  })
  const set = (change: Partial<typeof fields>) => setFields((before) => ({ ...before, ...change }))
  const [key, setKey] = useState(newKey)
  const save = useMutation({
    async mutationFn() {
      const { source, target, description } = fields
      const conditions = fields.conditions.split('\n').filter((line) => line.trim() !== '')
      const value = { source_pipeline: source, target_pipeline: target, conditions }
      await (rule === null
        ? createRule(org, { type, description, value }, key)
        : updateRule(org, rule.uuid, { description, value }))
      await queryClient.invalidateQueries({ queryKey: rulesQuery(org).queryKey })
    },
    onSuccess() {
      showToast(rule === null ? 'The rule holds from now on.' : 'Saved.')
      onClose()
    },
    onError: () => setKey(newKey()),
  })
  return (
    <FormDialog
      title={rule === null ? 'New rule' : 'Edit the rule'}
      action={rule === null ? 'Create rule' : 'Save'}
      isBusy={save.isPending}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <PipelineField org={org} label="Pipeline" value={fields.source} onValue={(source) => set({ source })} />
      <SelectField
        label="May"
        value={type}
        disabled={rule !== null}
        onValue={(value) => setType(value as Rule['type'])}
      >
        {Object.entries(actionNames).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </SelectField>
      <PipelineField
        org={org}
        label="Other pipeline"
        value={fields.target}
        onValue={(target) => set({ target })}
      />
      <TextArea
        label="Conditions"
        value={fields.conditions}
        placeholder={'build.branch == "main"'}
        spellCheck={false}
        hint="One a line; all must hold. Empty: always."
        onValue={(conditions) => set({ conditions })}
      />
      <TextField
        label="Description"
        value={fields.description}
        onValue={(description) => set({ description })}
      />
      {save.error !== null && <p role="alert">{save.error.message}</p>}
    </FormDialog>
  )
}
