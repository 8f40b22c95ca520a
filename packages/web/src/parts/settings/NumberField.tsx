import type { ReactNode } from 'react'
import { TextField } from '../Field.tsx'

interface Props {
  label: string
  hint?: ReactNode
  /** null: the field is empty. */
  value: number | null
  min?: number
  max?: number
  /** What holds while the field is empty. */
  placeholder?: string
  onValue: (value: number | null) => void
}

/** A whole number, or nothing. */
export const NumberField = ({ value, onValue, ...rest }: Props) => (
  <TextField
    {...rest}
    type="number"
    step={1}
    inputMode="numeric"
    value={value === null ? '' : String(value)}
    onValue={(text) => onValue(text === '' ? null : Math.trunc(Number(text)))}
  />
)
