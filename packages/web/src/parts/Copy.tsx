import { useState } from 'react'
import { copyText } from './copy.ts'
import { Icon } from './Icon.tsx'
import styles from './Copy.module.css'

const shownMs = 1500

/** Copies `text`. `label` says what is copied: "commit", "command". */
export function Copy({ text, label }: { text: string; label: string }) {
  const [isDone, setDone] = useState(false)
  const copy = async () => {
    await copyText(text)
    setDone(true)
    setTimeout(() => setDone(false), shownMs)
  }
  return (
    <button
      type="button"
      className={styles.copy}
      aria-label={`Copy ${label}`}
      title={`Copy ${label}`}
      onClick={() => void copy()}
    >
      <Icon name={isDone ? 'check' : 'copy'} size={14} />
    </button>
  )
}

/** A command or a value that is to be copied. */
export const CopyBlock = ({ text, label }: { text: string; label: string }) => (
  <div className={styles.block}>
    <pre className={styles.text}>{text}</pre>
    <Copy text={text} label={label} />
  </div>
)
