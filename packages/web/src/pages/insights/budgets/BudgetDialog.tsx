import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { newKey } from '../../../api/call.ts'
import { FormDialog } from '../../../parts/dialogs/FormDialog.tsx'
import { SelectField, TextField } from '../../../parts/Field.tsx'
import { showLabel } from '../../../parts/labels.ts'
import { showToast } from '../../../parts/toasts/toasts.ts'
import { subjectOf } from './BudgetTable.tsx'
import { budgetsQuery, createBudget, updateBudget, type Budget } from './queries.ts'
import { SubjectField } from './SubjectField.tsx'
import { findSubjectId, type SubjectKind } from './subjects.ts'

interface Props {
  org: string
  /** null: a new one. */
  budget: Budget | null
  onClose: () => void
}

/** Makes a budget, or changes how much one is. What it is for stays. */
export function BudgetDialog({ org, budget, onClose }: Props) {
  const queryClient = useQueryClient()
  const [kind, setKind] = useState<SubjectKind>('pipeline')
  const [subject, setSubject] = useState('')
  const [amount, setAmount] = useState(budget === null ? '' : String(budget.amount))
  const [key, setKey] = useState(newKey)
  const save = useMutation({
    async mutationFn() {
      if (budget !== null) await updateBudget(org, budget.id, Number(amount))
      else {
        const id = await findSubjectId(org, kind, subject)
        const body = kind === 'team' ? { team_id: id } : { pipeline_id: id }
        await createBudget(org, { ...body, amount: Number(amount) }, key)
      }
      await queryClient.invalidateQueries({ queryKey: budgetsQuery(org).queryKey })
    },
    onSuccess() {
      showToast(budget === null ? 'The budget holds from now on.' : 'Saved.')
      onClose()
    },
    onError: () => setKey(newKey()),
  })
  const problem = save.error?.message
  const isOfAmount = budget !== null || problem?.includes('amount') === true
  return (
    <FormDialog
      title={budget === null ? 'New budget' : `Change the budget of ${showLabel(subjectOf(budget))}`}
      action={budget === null ? 'Create budget' : 'Save'}
      isBusy={save.isPending}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      {budget === null && (
        <>
          <SelectField
            label="For"
            value={kind}
            onValue={(next) => {
              setKind(next as SubjectKind)
              setSubject('')
            }}
          >
            <option value="pipeline">A pipeline</option>
            <option value="team">All pipelines of a team</option>
          </SelectField>
          <SubjectField
            org={org}
            kind={kind}
            value={subject}
            problem={isOfAmount ? undefined : problem}
            onValue={setSubject}
          />
        </>
      )}
      <TextField
        label="Amount in a month"
        type="number"
        step="any"
        inputMode="decimal"
        required
        value={amount}
        problem={isOfAmount ? problem : undefined}
        hint={`What it may cost in a calendar month of UTC, in ${budget?.currency ?? 'the organization’s currency'}. A notice comes at 80 % and at 100 %.`}
        onValue={setAmount}
      />
    </FormDialog>
  )
}
