import { Button } from '../../parts/Button.tsx'
import { Checkbox } from '../../parts/Field.tsx'
import { groupScopes, isRead, type Scope } from './scopes.ts'
import styles from './ScopeChoice.module.css'

interface Props<Offered> {
  offered: readonly Offered[]
  chosen: readonly Offered[]
  onChange: (scopes: readonly Offered[]) => void
}

export const ScopeChoice = <Offered extends Scope>({ offered, chosen, onChange }: Props<Offered>) => (
  <fieldset className={styles.choice}>
    <legend className={styles.legend}>What it may do</legend>
    <div className={styles.presets}>
      <Button onClick={() => onChange(offered.filter(isRead))}>Read only</Button>
      <Button onClick={() => onChange(offered)}>Everything</Button>
      <Button onClick={() => onChange([])}>Nothing</Button>
    </div>
    <div className={styles.groups}>
      {groupScopes(offered).map(({ noun, scopes }) => (
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
