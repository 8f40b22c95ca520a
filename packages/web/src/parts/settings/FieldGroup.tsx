import type { ReactNode } from 'react'
import styles from './FieldGroup.module.css'

interface Props {
  label: string
  children: ReactNode
}

/** Checkboxes that belong together. */
export const FieldGroup = ({ label, children }: Props) => (
  <fieldset className={styles.group}>
    <legend className={styles.label}>{label}</legend>
    {children}
  </fieldset>
)
