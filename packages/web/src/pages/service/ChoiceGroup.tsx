import { Checkbox } from '../../parts/Field.tsx'
import { FieldGroup } from '../../parts/settings/FieldGroup.tsx'
import styles from './ServiceFields.module.css'

interface Props {
  label: string
  hint?: string
  /** Each choice with what is shown of it. */
  choices: Readonly<Record<string, string>>
  chosen: readonly string[]
  onChoose: (chosen: string[]) => void
}

/** Several of several, in the order of the choices. */
export const ChoiceGroup = ({ label, hint, choices, chosen, onChoose }: Props) => (
  <FieldGroup label={label}>
    <div className={styles.choices}>
      {Object.entries(choices).map(([name, text]) => (
        <Checkbox
          key={name}
          label={text}
          checked={chosen.includes(name)}
          onCheck={(isChecked) =>
            onChoose(
              Object.keys(choices).filter((each) => (each === name ? isChecked : chosen.includes(each))),
            )
          }
        />
      ))}
    </div>
    {hint !== undefined && <p className={styles.hint}>{hint}</p>}
  </FieldGroup>
)
