// A field for a setting, as the API describes it.
import { Checkbox, SelectField, TextArea, TextField } from '../../parts/Field.tsx'
import { ChoiceGroup } from './ChoiceGroup.tsx'
import type { Setting } from '../services/queries.ts'
import { choiceWord } from '../services/words.ts'
import type { FormValue } from './setting-values.ts'
import styles from './ServiceFields.module.css'

interface Props {
  setting: Setting
  value: FormValue
  isNew: boolean
  /** Requests would go to another address than before. */
  hasMoved: boolean
  problem?: string | undefined
  onValue: (value: FormValue) => void
}

export function SettingField({ setting, value, isNew, hasMoved, problem, onValue }: Props) {
  const { kind, label, choices, minimum, maximum, example } = setting
  const hint = hintOf(setting, isNew, hasMoved)
  if (kind === 'switch')
    return (
      <div>
        <Checkbox label={label} checked={value === true} onCheck={onValue} />
        <p className={styles.hint}>{hint}</p>
      </div>
    )
  if (kind === 'choices')
    return (
      <ChoiceGroup
        label={label}
        choices={Object.fromEntries(choices.map((choice) => [choice, choice]))}
        chosen={value as readonly string[]}
        onChoose={onValue}
      />
    )
  const common = {
    label,
    hint,
    problem,
    onValue,
    value: String(value),
    required: isNeeded(setting, isNew),
  }
  if (kind === 'choice')
    return (
      <SelectField {...common}>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choiceWord(choice)}
          </option>
        ))}
      </SelectField>
    )
  const typed = { ...common, autoComplete: 'off', spellCheck: false, readOnly: setting.is_fixed && !isNew }
  if (kind === 'lines' || kind === 'map')
    return <TextArea {...typed} {...(example === null ? {} : { placeholder: example })} />
  return (
    <TextField
      {...typed}
      {...(example === null ? {} : { placeholder: example })}
      {...(kind === 'number' ? { type: 'number', step: 1 } : {})}
      {...(minimum === null ? {} : { min: minimum })}
      {...(maximum === null ? {} : { max: maximum })}
    />
  )
}

/** A secret that is never shown stays as it is while its field is empty. */
const isNeeded = ({ is_required: isRequired, is_generated: isMade, shown }: Setting, isNew: boolean) =>
  isRequired && !isMade && (isNew || shown !== 'never')

function hintOf(setting: Setting, isNew: boolean, hasMoved: boolean): string {
  const { hint, kind, shown, is_generated: isMade, is_fixed: isFixed, is_address: isAddress } = setting
  const emptied =
    hasMoved && !isAddress
      ? 'Enter it again: left empty, it is removed, because the address has changed.'
      : 'It is never shown. Left empty, it stays as it is.'
  return [
    hint,
    ...(kind === 'map' ? ['One a line, as name: value.'] : []),
    ...(isNew && isMade ? ['Left empty, one is made.'] : []),
    ...(!isNew && shown === 'never' ? [emptied] : []),
    ...(isNew && isFixed ? ['It cannot be changed later.'] : []),
    ...(!isNew && isFixed ? ['It cannot be changed.'] : []),
  ].join(' ')
}
