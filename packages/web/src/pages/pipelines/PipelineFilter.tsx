import { useState } from 'react'
import { Icon } from '../../parts/Icon.tsx'
import { useKeys } from '../../parts/keys.ts'
import { Chip } from '../builds/FilterBar.tsx'
import bar from '../builds/FilterBar.module.css'
import type { PipelineSearch, Shown } from './choose.ts'

const fieldId = 'pipeline-filter'
const choices: ReadonlyArray<{ show: Shown; label: string }> = [
  { show: 'all', label: 'All' },
  { show: 'favorites', label: '★ Favourites' },
  { show: 'failing', label: 'Failing' },
]

interface Props {
  search: PipelineSearch
  /** Those to choose from. */
  tags: readonly string[]
  onChange: (search: PipelineSearch) => void
}

export function PipelineFilter({ search, tags, onChange }: Props) {
  const { q = '', show } = search
  const [typed, setTyped] = useState({ text: q, q })
  // The address changed by other means, such as a cleared filter.
  if (typed.q !== q) setTyped({ text: q, q })
  useKeys([
    { keys: '/', label: 'Filter the pipelines', run: () => document.getElementById(fieldId)?.focus() },
  ])
  return (
    <search className={bar.bar}>
      <div className={`icon-input ${bar.field}`}>
        <Icon name="search" size={14} />
        <input
          id={fieldId}
          value={typed.text}
          placeholder="Filter…  /"
          aria-label="Filter by name or tag"
          onChange={({ target }) => {
            setTyped({ text: target.value, q: target.value })
            const { q: _, ...others } = search
            onChange({ ...others, ...(target.value === '' ? {} : { q: target.value }) })
          }}
        />
      </div>
      <div role="group" aria-label="Which pipelines" className={bar.chips}>
        {choices.map(({ show: each, label }) => (
          <Chip
            key={each}
            label={label}
            isOn={(show ?? 'all') === each}
            onClick={() => {
              const { show: _, ...others } = search
              onChange({ ...others, ...(each === 'all' ? {} : { show: each }) })
            }}
          />
        ))}
      </div>
      {tags.length > 0 && (
        <div role="group" aria-label="Tag" className={bar.chips}>
          {tags.map((each) => (
            <Chip
              key={each}
              label={each}
              isOn={search.tag === each}
              onClick={() => {
                const { tag, ...others } = search
                onChange({ ...others, ...(tag === each ? {} : { tag: each }) })
              }}
            />
          ))}
        </div>
      )}
    </search>
  )
}
