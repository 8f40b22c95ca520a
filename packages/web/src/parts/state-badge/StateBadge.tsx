// A state is always shown as an icon, a word and a colour together.
import { stateLook, titleOf, type StateKind, type Tone } from './states.ts'
import { Icon } from '../Icon.tsx'
import styles from './StateBadge.module.css'

interface Props {
  kind: StateKind
  state: string
  detail?: Parameters<typeof stateLook>[2]
  /** In a list, where a state that asks for nothing has colour in its icon alone. */
  isQuiet?: boolean
}

/** Sets `--tone` and `--tint`. */
export const toneClass = (tone: Tone): string => styles[tone] ?? ''

export function StateBadge({ kind, state, detail, isQuiet = false }: Props) {
  const { tone, icon, label, aside, hasFailed } = stateLook(kind, state, detail)
  return (
    <span
      className={`${styles.badge} ${toneClass(tone)} ${isQuiet && hasFailed !== true ? styles.quiet : ''}`}
    >
      <Icon name={icon} size={14} isTurning={icon === 'loader-circle'} />
      {label}
      {hasFailed === true && <SoFar text={aside} />}
    </span>
  )
}

/** Beside a state that would hide a failure. */
const SoFar = ({ text }: { text: string | undefined }) => (
  <span className={`${styles.soFar} ${toneClass('failed')}`}>
    <Icon name="circle-x" size={12} />
    {text}
  </span>
)

/** For narrow places. The word is read aloud and shown on hover. */
export function StateIcon({ kind, state, detail }: Props) {
  const look = stateLook(kind, state, detail)
  const { tone, icon } = look
  const label = look.hasFailed === true ? titleOf(look) : look.label
  return (
    <span className={`${styles.icon} ${toneClass(tone)}`} title={label}>
      <Icon name={icon} label={label} isTurning={icon === 'loader-circle'} />
      {look.hasFailed === true && (
        <span className={`${styles.icon} ${toneClass('failed')}`}>
          <Icon name="circle-x" size={12} />
        </span>
      )}
    </span>
  )
}
