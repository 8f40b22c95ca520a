import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { newKey } from '../../api/call.ts'
import { keyOf } from '../../api/queries.ts'
import { StepsEditor } from '../../editor/StepsEditor.tsx'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { Checkbox, TextField } from '../../parts/Field.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { exampleSteps } from '../pipeline-new/example.ts'
import { createTemplate, updateTemplate, type Template } from './queries.ts'

interface Props {
  org: string
  /** null: a new one. */
  template: Template | null
  onClose: () => void
}

export function TemplateDialog({ org, template, onClose }: Props) {
  const queryClient = useQueryClient()
  const [key, setKey] = useState(newKey)
  const [hasErrors, setHasErrors] = useState(false)
  const [first] = useState(template?.configuration ?? exampleSteps)
  const [fields, setFields] = useState({
    name: template?.name ?? '',
    description: template?.description ?? '',
    available: template?.available ?? true,
    configuration: first,
  })
  const set = (change: Partial<typeof fields>) => setFields((before) => ({ ...before, ...change }))
  const save = useMutation({
    async mutationFn() {
      await (template === null
        ? createTemplate(org, fields, key)
        : updateTemplate(org, template.uuid, fields))
      await Promise.all([
        queryClient.invalidateQueries({ queryKey: keyOf('GET /v2/organizations/{org}/pipeline-templates') }),
        queryClient.invalidateQueries({
          queryKey: keyOf('GET /v2/organizations/{org}/pipeline-templates/{template}'),
        }),
      ])
    },
    onSuccess() {
      showToast(template === null ? 'New pipelines can take the template.' : 'Saved.')
      onClose()
    },
    onError: () => setKey(newKey()),
  })
  return (
    <FormDialog
      title={template === null ? 'New template' : `Edit the template ${template.name}`}
      size="wide"
      action={template === null ? 'Create template' : 'Save'}
      isBusy={save.isPending}
      disabledReason={hasErrors ? 'The steps have a mistake' : undefined}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={fields.name}
        required
        maxLength={255}
        onValue={(name) => set({ name })}
      />
      <TextField
        label="Description"
        value={fields.description}
        hint="Who makes a pipeline reads it."
        onValue={(description) => set({ description })}
      />
      <Checkbox
        label="Everybody who makes pipelines may choose it"
        checked={fields.available}
        onCheck={(available) => set({ available })}
      />
      <StepsEditor
        text={first}
        onChange={(configuration) => set({ configuration })}
        onChecked={setHasErrors}
      />
      {save.error !== null && <p role="alert">{save.error.message}</p>}
    </FormDialog>
  )
}
