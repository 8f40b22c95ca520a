import { SelectField, TextArea } from '../../parts/Field.tsx'
import { NumberField } from '../../parts/settings/NumberField.tsx'
import type { Queue } from '../cluster/queries.ts'

type FairBy = Queue['fair_by']

const names: Readonly<Record<FairBy, string>> = {
  none: 'Nobody: first come, first served',
  creator: 'Creators of builds',
  team: 'Teams of pipelines',
  pipeline: 'Pipelines',
}

interface Fields {
  fair_by: FairBy
  weights: string
  machine_limit_percent: number | null
}

/** How a queue divides its agents among those whose jobs wait. */
export const FairFields = ({ fields, set }: { fields: Fields; set: (change: Partial<Fields>) => void }) => (
  <>
    <SelectField
      label="Its agents are divided among"
      value={fields.fair_by}
      hint="Jobs of higher priority come first in any case."
      onValue={(next) =>
        set(next === 'none' ? { fair_by: 'none', machine_limit_percent: null } : { fair_by: next as FairBy })
      }
    >
      {Object.entries(names).map(([each, name]) => (
        <option key={each} value={each}>
          {name}
        </option>
      ))}
    </SelectField>
    {fields.fair_by !== 'none' && (
      <>
        <NumberField
          label="Agents for machines, in percent"
          value={fields.machine_limit_percent}
          min={1}
          max={100}
          placeholder="All"
          hint="As many agents may work for service accounts and schedules while people wait."
          onValue={(percent) => set({ machine_limit_percent: percent })}
        />
        <TextArea
          label="Weights"
          value={fields.weights}
          placeholder="0192f5c0-0000-7000-8000-000000000001 3"
          hint="A line for each: the UUID of the pipeline, team or user, and its weight from 1 to 1000. All others weigh 1."
          onValue={(weights) => set({ weights })}
        />
      </>
    )}
  </>
)

export const showWeights = (weights: Queue['fair_weights']): string =>
  Object.entries(weights)
    .map(([id, weight]) => `${id} ${weight}`)
    .join('\n')

/** What is no number is refused by the server. */
export const readWeights = (text: string): Queue['fair_weights'] =>
  Object.fromEntries(
    text
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .flatMap(([id = '', weight = '1']) => (id === '' ? [] : [[id, Number(weight)] as const])),
  )
