import { useState } from 'react'
import { Icon } from '../../parts/Icon.tsx'
import { stateLook } from '../../parts/state-badge/states.ts'
import { useKeys } from '../../parts/keys.ts'
import { states, type BuildFilters } from './filters.ts'
import styles from './FilterBar.module.css'

interface Props {
  filters: BuildFilters
  onChange: (filters: BuildFilters) => void
}

const fieldId = 'branch-filter'

export function FilterBar({ filters, onChange }: Props) {
  useKeys([{ keys: '/', label: 'Filter the builds', run: () => document.getElementById(fieldId)?.focus() }])
  const without = (name: keyof BuildFilters): BuildFilters =>
    Object.fromEntries(Object.entries(filters).filter(([each]) => each !== name))
  const toggle = (name: keyof BuildFilters, value: string) =>
    onChange(filters[name] === value ? without(name) : { ...filters, [name]: value })
  return (
    <search className={styles.bar}>
      <BranchField
        key={filters.branch ?? ''}
        branch={filters.branch ?? ''}
        onSubmit={(branch) => onChange(branch === '' ? without('branch') : { ...filters, branch })}
      />
      <div role="group" aria-label="State" className={styles.chips}>
        {states.map((state) => (
          <Chip
            key={state}
            label={stateLook('build', state).label}
            isOn={filters.state === state}
            onClick={() => toggle('state', state)}
          />
        ))}
        <Chip label="Mine" isOn={filters.creator === 'me'} onClick={() => toggle('creator', 'me')} />
        {filters.commit !== undefined && (
          <Chip
            label={`Commit ${filters.commit.slice(0, 7)}`}
            isOn
            onClick={() => onChange(without('commit'))}
          />
        )}
      </div>
    </search>
  )
}

function BranchField({ branch, onSubmit }: { branch: string; onSubmit: (branch: string) => void }) {
  const [text, setText] = useState(branch)
  return (
    <form
      className={`icon-input ${styles.field}`}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit(text.trim())
      }}
    >
      <Icon name="git-branch" size={14} />
      <input
        id={fieldId}
        value={text}
        placeholder="Branch…  /"
        aria-label="Branch"
        onChange={({ target }) => setText(target.value)}
        onBlur={() => text.trim() !== branch && onSubmit(text.trim())}
      />
    </form>
  )
}

export const Chip = ({ label, isOn, onClick }: { label: string; isOn: boolean; onClick: () => void }) => (
  <button type="button" className={styles.chip} aria-pressed={isOn} onClick={onClick}>
    {label}
  </button>
)
