import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { Checkbox, SelectField, TextField } from '../../parts/Field.tsx'
import { useKeys } from '../../parts/keys.ts'
import { isSearchable, type LogSearch } from './search.ts'
import styles from './SearchForm.module.css'

interface Props {
  search: LogSearch
  onSearch: (search: LogSearch) => void
}

const fieldId = 'log-search-text'
const states = ['failed', 'passed', 'timed_out', 'canceled', 'running'] as const

/** Searches when it is sent. `key` it by the search, so that going back shows what was searched then. */
export function SearchForm({ search, onSearch }: Props) {
  const [draft, setDraft] = useState(search)
  useKeys([{ keys: '/', label: 'Search logs', run: () => document.getElementById(fieldId)?.focus() }])
  const without = (name: keyof LogSearch): LogSearch =>
    Object.fromEntries(Object.entries(draft).filter(([each]) => each !== name))
  const set = (name: 'q' | 'pipeline' | 'branch' | 'state' | 'step' | 'from' | 'to') => (value: string) =>
    setDraft(value === '' ? without(name) : { ...draft, [name]: value })
  return (
    <search>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          onSearch(draft)
        }}
      >
        <div className={styles.line}>
          <div className={styles.text}>
            <TextField
              id={fieldId}
              label="Find"
              value={draft.q ?? ''}
              maxLength={200}
              autoComplete="off"
              spellCheck={false}
              onValue={set('q')}
            />
          </div>
          <SelectField
            label="In"
            value={draft.in ?? 'failures'}
            onValue={(value) => setDraft(value === 'logs' ? { ...draft, in: 'logs' } : without('in'))}
          >
            <option value="failures">What failed jobs said</option>
            <option value="logs">Whole logs of all jobs</option>
          </SelectField>
          <Button type="submit" kind="primary" icon="search" disabled={!isSearchable(draft)}>
            Search
          </Button>
        </div>
        <div className={styles.line}>
          <Checkbox
            label="Regular expression"
            checked={draft.regex === true}
            onCheck={(isOn) => setDraft(isOn ? { ...draft, regex: true } : without('regex'))}
          />
          <Checkbox
            label="Distinguish upper and lower case"
            checked={draft.case === true}
            onCheck={(isOn) => setDraft(isOn ? { ...draft, case: true } : without('case'))}
          />
        </div>
        <div className={`${styles.line} ${styles.filters}`}>
          <TextField label="Pipeline" value={draft.pipeline ?? ''} onValue={set('pipeline')} />
          <TextField label="Branch" value={draft.branch ?? ''} onValue={set('branch')} />
          <TextField label="Step" value={draft.step ?? ''} onValue={set('step')} />
          <SelectField label="State" value={draft.state ?? ''} onValue={set('state')}>
            <option value="">Any</option>
            {states.map((state) => (
              <option key={state} value={state}>
                {state.replace('_', ' ')}
              </option>
            ))}
          </SelectField>
          <TextField label="From" type="date" value={draft.from ?? ''} onValue={set('from')} />
          <TextField label="Until" type="date" value={draft.to ?? ''} onValue={set('to')} />
        </div>
      </form>
    </search>
  )
}
