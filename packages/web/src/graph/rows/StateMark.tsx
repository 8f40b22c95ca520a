import { Icon } from '../../parts/Icon.tsx'
import { toneClass } from '../../parts/state-badge/StateBadge.tsx'
import styles from './Rows.module.css'
import { titleOf, type StateLook } from '../../parts/state-badge/states.ts'

/** Icon, word and colour of a state, in a row. */
export const StateMark = ({ look, hasWord = true }: { look: StateLook; hasWord?: boolean }) => (
  <span className={`${styles.state} ${toneClass(look.tone)}`} title={titleOf(look)}>
    <Icon
      name={look.icon}
      isTurning={look.icon === 'loader-circle'}
      {...(hasWord ? {} : { label: look.label })}
    />
    {hasWord && <span className="truncated">{look.label}</span>}
  </span>
)
