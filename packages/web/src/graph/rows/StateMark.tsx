import { Icon } from '../../parts/Icon.tsx'
import tones from '../../parts/state-badge/StateBadge.module.css'
import styles from './Rows.module.css'
import { titleOf, type StateLook, type Tone } from '../../parts/state-badge/states.ts'

/** Sets `--tone` and `--tint`. */
export const toneClass = (tone: Tone): string => tones[tone] ?? ''

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
