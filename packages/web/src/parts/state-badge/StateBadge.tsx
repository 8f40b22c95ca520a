// A state is always shown as an icon, a word and a colour together.
import { stateLook, type StateKind, type Tone } from './states.ts'
import { Icon } from '../Icon.tsx'
import styles from './StateBadge.module.css'

interface Props {
  kind: StateKind
  state: string
  detail?: Parameters<typeof stateLook>[2]
}

/** Sets `--tone` and `--tint`. */
export const toneClass = (tone: Tone): string => styles[tone] ?? ''

export function StateBadge({ kind, state, detail }: Props) {
  const { tone, icon, label } = stateLook(kind, state, detail)
  return (
    <span className={`${styles.badge} ${toneClass(tone)}`}>
      <Icon name={icon} size={14} isTurning={icon === 'loader-circle'} />
      {label}
    </span>
  )
}

/** For narrow places. The word is read aloud and shown on hover. */
export function StateIcon({ kind, state, detail }: Props) {
  const { tone, icon, label } = stateLook(kind, state, detail)
  return (
    <span className={`${styles.icon} ${toneClass(tone)}`} title={label}>
      <Icon name={icon} label={label} isTurning={icon === 'loader-circle'} />
    </span>
  )
}
