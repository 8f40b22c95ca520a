import { TextField } from '../Field.tsx'
import { Mark } from './Mark.tsx'
import styles from './MarkFields.module.css'

interface MarkValue {
  /** In colon syntax, or empty. */
  emoji: string
  /** As a hex colour, or empty. */
  color: string
}

interface Props extends MarkValue {
  onChange: (change: Partial<MarkValue>) => void
}

/** The emoji of something and its background, with what they look like. */
export const MarkFields = ({ emoji, color, onChange }: Props) => (
  <div className={styles.fields}>
    <TextField
      label="Emoji"
      value={emoji}
      placeholder=":rocket:"
      pattern=":[\w+\-]{1,100}:"
      title="The name of an emoji between colons, such as :rocket:"
      onValue={(value) => onChange({ emoji: value })}
    />
    <TextField
      label="Colour"
      value={color}
      placeholder="#FFE0F1"
      pattern="#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"
      title="A colour in hex, such as #FFE0F1"
      onValue={(value) => onChange({ color: value })}
    />
    <div className={styles.shown} aria-hidden="true">
      <Mark emoji={emoji === '' ? null : emoji} color={color === '' ? null : color} />
    </div>
  </div>
)
