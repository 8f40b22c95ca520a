import { showLabel } from '../../../parts/labels.ts'
import { Checkbox, SelectField, TextField } from '../../../parts/Field.tsx'
import type { ManualField } from './unblock-answers.ts'
import styles from '../Content.module.css'

interface Props {
  field: ManualField
  answer: string | string[]
  problem: string | undefined
  onAnswer: (answer: string | string[]) => void
}

export function UnblockField({ field, answer, problem, onAnswer }: Props) {
  const label = showLabel(field.required ? field.label : `${field.label} (optional)`)
  const common = { label, problem, ...(field.hint === null ? {} : { hint: showLabel(field.hint) }) }
  if (field.kind === 'text') {
    return <TextField {...common} value={String(answer)} required={field.required} onValue={onAnswer} />
  }
  if (!field.multiple) {
    return (
      <SelectField {...common} value={String(answer)} onValue={onAnswer}>
        <option value="">Choose…</option>
        {field.options.map(({ label, value }) => (
          <option key={value} value={value}>
            {showLabel(label)}
          </option>
        ))}
      </SelectField>
    )
  }
  return <SeveralOptions field={field} label={label} answer={answer} problem={problem} onAnswer={onAnswer} />
}

interface SeveralProps extends Props {
  field: Extract<ManualField, { kind: 'select' }>
  label: string
}

function SeveralOptions({ field, label, answer, problem, onAnswer }: SeveralProps) {
  const chosen = new Set(answer)
  const toggle = (value: string) =>
    onAnswer(
      field.options.map((option) => option.value).filter((each) => chosen.has(each) !== (each === value)),
    )
  return (
    <fieldset className={styles.choices} aria-invalid={problem === undefined ? undefined : true}>
      <legend className={styles.legend}>{label}</legend>
      {field.options.map((option) => (
        <Checkbox
          key={option.value}
          label={showLabel(option.label)}
          checked={chosen.has(option.value)}
          onCheck={() => toggle(option.value)}
        />
      ))}
      {(problem ?? field.hint) !== null && (
        <p className={problem === undefined ? styles.note : styles.problem}>
          {problem ?? showLabel(field.hint ?? '')}
        </p>
      )}
    </fieldset>
  )
}
