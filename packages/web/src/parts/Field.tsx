import { useId, type ComponentProps, type ReactNode } from 'react'
import styles from './Field.module.css'

interface Common {
  label: string
  hint?: ReactNode
  /** Why the value is refused. */
  problem?: string | undefined
}

interface ControlProps {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': boolean | undefined
}

/** A label, a control, and what is to be known about it. */
function Field({
  label,
  hint,
  problem,
  children,
}: Common & { children: (props: ControlProps) => ReactNode }) {
  const id = useId()
  const isDescribed = hint !== undefined || problem !== undefined
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      {children({
        id,
        'aria-describedby': isDescribed ? `${id}-more` : undefined,
        'aria-invalid': problem === undefined ? undefined : true,
      })}
      {isDescribed && (
        <p id={`${id}-more`} className={problem === undefined ? styles.hint : styles.problem}>
          {problem ?? hint}
        </p>
      )}
    </div>
  )
}

export const TextField = ({ label, hint, problem, ...rest }: Common & ComponentProps<'input'>) => (
  <Field label={label} hint={hint} problem={problem}>
    {(props) => <input {...rest} {...props} className={styles.input} />}
  </Field>
)

export const TextArea = ({ label, hint, problem, ...rest }: Common & ComponentProps<'textarea'>) => (
  <Field label={label} hint={hint} problem={problem}>
    {(props) => <textarea rows={3} {...rest} {...props} className={`${styles.input} ${styles.area}`} />}
  </Field>
)

export const SelectField = ({
  label,
  hint,
  problem,
  children,
  ...rest
}: Common & ComponentProps<'select'>) => (
  <Field label={label} hint={hint} problem={problem}>
    {(props) => (
      <select {...rest} {...props} className={styles.input}>
        {children}
      </select>
    )}
  </Field>
)

export const Checkbox = ({
  label,
  ...rest
}: { label: ReactNode } & Omit<ComponentProps<'input'>, 'type'>) => (
  <label className={styles.checkbox}>
    <input {...rest} type="checkbox" />
    <span>{label}</span>
  </label>
)

export const FieldStack = ({ children }: { children: ReactNode }) => (
  <div className={styles.stack}>{children}</div>
)
