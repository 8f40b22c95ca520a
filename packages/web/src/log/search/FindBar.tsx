import { useSyncExternalStore, type KeyboardEvent } from 'react'
import { IconButton } from '../../parts/Button.tsx'
import { Icon } from '../../parts/Icon.tsx'
import type { Finder, Found } from './finder.ts'
import { countOf, isLikeExpression } from './search.ts'
import styles from '../Toolbar.module.css'

interface Props {
  finder: Finder
  /** Leaves the search. */
  onLeave: () => void
}

export function FindBar({ finder, onLeave }: Props) {
  const found = useSyncExternalStore(finder.subscribe, finder.read)
  const { query } = found
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') finder.step(event.shiftKey ? -1 : 1)
    if (event.key !== 'Escape') return
    event.stopPropagation()
    finder.setQuery({ ...query, text: '' })
    onLeave()
  }
  return (
    <search className={styles.find}>
      <div className={styles.field}>
        <Icon name="search" size={14} />
        <input
          ref={(element) => finder.setInput(element)}
          className={styles.input}
          type="text"
          placeholder="Find…"
          aria-label="Find in the log"
          aria-invalid={found.failure !== '' || undefined}
          value={query.text}
          spellCheck={false}
          autoComplete="off"
          maxLength={1000}
          onChange={({ target }) => finder.setQuery({ ...query, text: target.value })}
          onKeyDown={onKeyDown}
        />
        {query.text !== '' && (
          <button
            type="button"
            className={styles.toggle}
            aria-label="Clear the search"
            onClick={() => finder.setQuery({ ...query, text: '' })}
          >
            <Icon name="x" size={12} />
          </button>
        )}
        <Toggle
          text=".*"
          label="Regular expression"
          isOn={query.isRegex}
          onToggle={() => finder.setQuery({ ...query, isRegex: !query.isRegex })}
        />
        <Toggle
          text="Aa"
          label="Match case"
          isOn={query.isCaseSensitive}
          onToggle={() => finder.setQuery({ ...query, isCaseSensitive: !query.isCaseSensitive })}
        />
      </div>
      {query.text !== '' && (
        <>
          <Count found={found} text={finder.describe()} />
          {mayBeExpression(found) ? (
            <button
              type="button"
              className={styles.expression}
              onClick={() => {
                finder.setQuery({ ...query, isRegex: true })
                finder.focus()
              }}
            >
              As an expression?
            </button>
          ) : (
            <>
              <IconButton label="Previous match (N)" icon="chevron-up" onClick={() => finder.step(-1)} />
              <IconButton label="Next match (n)" icon="chevron-down" onClick={() => finder.step(1)} />
            </>
          )}
        </>
      )}
    </search>
  )
}

const mayBeExpression = ({ query, matches, isSearching, failure }: Found) =>
  !isSearching && failure === '' && matches.isComplete && countOf(matches) === 0 && isLikeExpression(query)

function Count({ found: { matches, failure }, text }: { found: Found; text: string }) {
  if (failure !== '')
    return (
      <span className={`truncated ${styles.failure}`} role="alert" title={failure}>
        {failure}
      </span>
    )
  const title = matches.isComplete
    ? 'Matches in the whole log'
    : 'The search took too long: there may be more'
  return (
    <span className={styles.count} title={title}>
      {text}
    </span>
  )
}

interface ToggleProps {
  text: string
  label: string
  isOn: boolean
  onToggle: () => void
}

const Toggle = ({ text, label, isOn, onToggle }: ToggleProps) => (
  <button
    type="button"
    className={styles.toggle}
    aria-label={label}
    title={label}
    aria-pressed={isOn}
    onClick={onToggle}
  >
    {text}
  </button>
)
