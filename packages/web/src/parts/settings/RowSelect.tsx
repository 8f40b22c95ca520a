import { useState } from 'react'
import { showLabel } from '../labels.ts'
import { showFailure } from '../toasts/toasts.ts'
import styles from './RowSelect.module.css'

interface Props<Value extends string> {
  /** What is chosen, and of whom: "Role of Ada". */
  label: string
  value: Value
  /** Each value with its name. */
  options: Readonly<Record<Value, string>>
  /** Stores the choice, and loads it anew. */
  onChoose: (value: Value) => Promise<unknown>
}

/** A choice in a row of a table. It is shown at once, and taken back if the server refuses it. */
export function RowSelect<Value extends string>({ label, value, options, onChoose }: Props<Value>) {
  const [chosen, setChosen] = useState<Value | null>(null)
  const choose = async (next: Value) => {
    setChosen(next)
    try {
      await onChoose(next)
    } catch (error) {
      showFailure(error)
    }
    setChosen(null)
  }
  return (
    <select
      className={styles.select}
      aria-label={showLabel(label)}
      aria-busy={chosen !== null || undefined}
      value={chosen ?? value}
      onChange={({ target }) => void choose(target.value as Value)}
    >
      {(Object.entries(options) as Array<[Value, string]>).map(([each, name]) => (
        <option key={each} value={each}>
          {name}
        </option>
      ))}
    </select>
  )
}
