import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { IconButton } from '../../parts/Button.tsx'
import { TextField } from '../../parts/Field.tsx'
import { showLabel } from '../../parts/labels.ts'
import { FieldGroup } from '../../parts/settings/FieldGroup.tsx'
import { NumberField } from '../../parts/settings/NumberField.tsx'
import type { Queue } from '../cluster/queries.ts'
import { findSharers, namedSharers, type Sharer } from './sharers.ts'
import styles from './WeightFields.module.css'

type Weights = Queue['fair_weights']

const words = {
  pipeline: { legend: 'Weights of pipelines', add: 'Add a pipeline' },
  team: { legend: 'Weights of teams', add: 'Add a team' },
  creator: { legend: 'Weights of people', add: 'Add a person' },
}

interface Props {
  org: string
  fairBy: keyof typeof words
  weights: Weights
  onWeights: (weights: Weights) => void
}

/** Chosen by name. What the person may not see, or is deleted, is shown by its id. */
export function WeightFields({ org, fairBy, weights, onWeights }: Props) {
  const [text, setText] = useState('')
  const [added, setAdded] = useState<readonly Sharer[]>([])
  const find = (wanted: string) => ({
    queryKey: ['sharers of queues', org, fairBy, wanted],
    queryFn: ({ signal }: { signal: AbortSignal }) => findSharers(org, fairBy, wanted, signal),
    placeholderData: keepPreviousData<Sharer[]>,
  })
  // The weights that the dialog opened with; those that are added come with their names.
  const [stored] = useState(() => Object.keys(weights))
  const { data: named = [] } = useQuery({
    queryKey: ['names of sharers', org, fairBy, stored],
    queryFn: ({ signal }) => namedSharers(org, fairBy, stored, signal),
    enabled: stored.length > 0,
  })
  const { data: found = [] } = useQuery(find(text))
  const offered = found.filter(({ id }) => weights[id] === undefined)
  const nameOf = (id: string) => [...added, ...named].find((each) => each.id === id)?.name ?? id
  const type = (next: string) => {
    const chosen = offered.find(({ detail }) => detail === next)
    setText(chosen === undefined ? next : '')
    if (chosen === undefined) return
    setAdded([...added, chosen])
    onWeights({ ...weights, [chosen.id]: 2 })
  }
  const { legend, add } = words[fairBy]
  return (
    <FieldGroup label={legend}>
      <p className={styles.hint}>Twice the weight gets twice the agents. All others have the weight 1.</p>
      {Object.entries(weights).map(([id, weight]) => {
        const name = showLabel(nameOf(id))
        return (
          <div key={id} className={styles.row}>
            <NumberField
              label={name}
              value={weight}
              min={1}
              max={1000}
              onValue={(next) => onWeights({ ...weights, [id]: next ?? 1 })}
            />
            <IconButton
              label={`Remove the weight of ${name}`}
              icon="x"
              onClick={() =>
                onWeights(Object.fromEntries(Object.entries(weights).filter(([each]) => each !== id)))
              }
            />
          </div>
        )
      })}
      <TextField
        label={add}
        value={text}
        list="sharers"
        autoComplete="off"
        placeholder="Name or address"
        hint={
          <datalist id="sharers">
            {offered.map(({ id, name, detail }) => (
              <option key={id} value={detail}>
                {showLabel(name)}
              </option>
            ))}
          </datalist>
        }
        onValue={type}
      />
    </FieldGroup>
  )
}
