import { Button } from '../../parts/Button.tsx'
import { Checkbox } from '../../parts/Field.tsx'
import { allScopes, readScopes, scopeGroups, type Scope } from './scopes.ts'
import styles from './ScopeChoice.module.css'

interface Props {
  chosen: readonly Scope[]
  onChange: (scopes: readonly Scope[]) => void
}

export const ScopeChoice = ({ chosen, onChange }: Props) => (
  <fieldset className={styles.choice}>
    <legend className={styles.legend}>What it may do</legend>
    <div className={styles.presets}>
      <Button onClick={() => onChange(readScopes)}>Read only</Button>
      <Button onClick={() => onChange(allScopes)}>Everything</Button>
      <Button onClick={() => onChange([])}>Nothing</Button>
    </div>
    <div className={styles.groups}>
      {scopeGroups.map(({ noun, scopes }) => (
        <div key={noun} className={styles.group}>
          <span>{noun}</span>
          <span className={styles.verbs}>
            {scopes.map(({ scope, verb }) => (
              <Checkbox
                key={scope}
                label={verb}
                aria-label={`${noun}: ${verb}`}
                checked={chosen.includes(scope)}
                onCheck={(isChecked) =>
                  onChange(isChecked ? [...chosen, scope] : chosen.filter((each) => each !== scope))
                }
              />
            ))}
          </span>
        </div>
      ))}
    </div>
  </fieldset>
)
