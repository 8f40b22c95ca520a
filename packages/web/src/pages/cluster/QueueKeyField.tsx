import type { ReactNode } from 'react'
import { TextField } from '../../parts/Field.tsx'

interface Props {
  label: string
  value: string
  hint: ReactNode
  required?: boolean
  problem?: string | undefined
  onValue: (value: string) => void
}

/** The key of a queue that is to be made. */
export const QueueKeyField = (props: Props) => (
  <TextField
    {...props}
    pattern="[A-Za-z0-9_\-]{1,100}"
    title="Up to 100 letters, digits, dashes and underscores"
    autoComplete="off"
  />
)
