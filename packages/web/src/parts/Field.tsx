import { useId, type ComponentProps, type ReactNode } from 'react'
import styles from './Field.module.css'

interface Common {
  label: string
  hint?: ReactNode
  /** Why the value is refused. */
  problem?: string | undefined
}

interface Place {
  /** The label stands beside the control, not above it. */
  isBeside?: boolean
}

interface ControlProps {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': boolean | undefined
  onChange: (event: { target: { value: string } }) => void
}

interface FieldProps extends Common, Place {
  onValue: ((value: string) => void) | undefined
  children: (props: ControlProps) => ReactNode
}

/** A label, a control, and what is to be known about it. */
function Field({ label, hint, problem, isBeside = false, onValue, children }: FieldProps) {
  const id = useId()
  const isDescribed = hint !== undefined || problem !== undefined
  return (
    <div className={`${styles.field} ${isBeside ? styles.beside : ''}`}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      {children({
        id,
        'aria-describedby': isDescribed ? `${id}-more` : undefined,
        'aria-invalid': problem === undefined ? undefined : true,
        onChange: ({ target }) => onValue?.(target.value),
      })}
      {isDescribed && (
        <p id={`${id}-more`} className={problem === undefined ? styles.hint : styles.problem}>
          {problem ?? hint}
        </p>
      )}
    </div>
  )
}

type Control<Tag extends 'input' | 'textarea' | 'select'> = Common &
  Omit<ComponentProps<Tag>, 'onChange'> & { value: string; onValue?: (value: string) => void }

export const TextField = ({ label, hint, problem, onValue, ...rest }: Control<'input'>) => (
  <Field label={label} hint={hint} problem={problem} onValue={onValue}>
    {(props) => <input {...rest} {...props} className={styles.input} />}
  </Field>
)

export const TextArea = ({ label, hint, problem, onValue, ...rest }: Control<'textarea'>) => (
  <Field label={label} hint={hint} problem={problem} onValue={onValue}>
    {(props) => <textarea rows={3} {...rest} {...props} className={`${styles.input} ${styles.area}`} />}
  </Field>
)

export const SelectField = ({
  label,
  hint,
  problem,
  isBeside = false,
  onValue,
  ...rest
}: Control<'select'> & Place) => (
  <Field label={label} hint={hint} problem={problem} isBeside={isBeside} onValue={onValue}>
    {(props) => <select {...rest} {...props} className={styles.input} />}
  </Field>
)

interface CheckboxProps extends Omit<ComponentProps<'input'>, 'type' | 'onChange'> {
  label: ReactNode
  checked: boolean
  onCheck: (isChecked: boolean) => void
}

export const Checkbox = ({ label, onCheck, ...rest }: CheckboxProps) => (
  <label className={styles.checkbox}>
    <input {...rest} type="checkbox" onChange={({ target }) => onCheck(target.checked)} />
    <span>{label}</span>
  </label>
)

export const FieldStack = ({ children }: { children: ReactNode }) => (
  <div className={styles.stack}>{children}</div>
)

interface FormProps {
  id?: string
  onSubmit: () => void
  children: ReactNode
}

/** Fields one below the other. */
export const Form = ({ onSubmit, children, ...rest }: FormProps) => (
  <form
    {...rest}
    onSubmit={(event) => {
      event.preventDefault()
      onSubmit()
    }}
  >
    <FieldStack>{children}</FieldStack>
  </form>
)
