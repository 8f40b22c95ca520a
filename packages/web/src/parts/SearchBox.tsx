import { useState } from 'react'
import { Icon } from './Icon.tsx'
import styles from './SearchBox.module.css'

interface Props {
  /** "Find a member". */
  label: string
  text: string
  onSearch: (text: string) => void
}

const restMs = 250

/** Searches when somebody pauses typing. */
export function SearchBox({ label, text, onSearch }: Props) {
  const [typed, setTyped] = useState(text)
  const [timer, setTimer] = useState<ReturnType<typeof setTimeout>>()
  const [seen, setSeen] = useState(text)
  const [asked, setAsked] = useState(text)
  // Somebody has cleared the filters, or gone back. The answer to what was typed changes nothing: more may be typed already.
  if (text !== seen) {
    setSeen(text)
    if (text !== asked) setTyped(text)
  }
  const search = (next: string) => {
    setTyped(next)
    clearTimeout(timer)
    setTimer(
      setTimeout(() => {
        setAsked(next.trim())
        onSearch(next.trim())
      }, restMs),
    )
  }
  return (
    <div className={`icon-input ${styles.box}`}>
      <Icon name="search" size={14} />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        maxLength={200}
        value={typed}
        onChange={({ target }) => search(target.value)}
      />
    </div>
  )
}
