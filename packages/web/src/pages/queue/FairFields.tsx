import { SelectField } from '../../parts/Field.tsx'
import { NumberField } from '../../parts/settings/NumberField.tsx'
import type { Queue } from '../cluster/queries.ts'
import { WeightFields } from './WeightFields.tsx'

type FairBy = Queue['fair_by']

const names: Readonly<Record<FairBy, string>> = {
  none: 'Nobody: first come, first served',
  creator: 'Creators of builds',
  team: 'Teams of pipelines',
  pipeline: 'Pipelines',
}

interface Fields {
  fair_by: FairBy
  fair_weights: Queue['fair_weights']
  machine_limit_percent: number | null
}

interface Props {
  org: string
  fields: Fields
  set: (change: Partial<Fields>) => void
}

/** How a queue divides its agents among those whose jobs wait. */
export const FairFields = ({ org, fields, set }: Props) => (
  <>
    <SelectField
      label="Its agents are divided among"
      value={fields.fair_by}
      hint="Jobs of higher priority come first in any case."
      onValue={(next) =>
        set({
          fair_by: next as FairBy,
          fair_weights: {},
          ...(next === 'none' ? { machine_limit_percent: null } : {}),
        })
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
          label="Most agents for programs, in percent"
          value={fields.machine_limit_percent}
          min={1}
          max={100}
          placeholder="All"
          hint="Builds of service accounts and schedules get no more than that while people wait."
          onValue={(percent) => set({ machine_limit_percent: percent })}
        />
        <WeightFields
          org={org}
          fairBy={fields.fair_by}
          weights={fields.fair_weights}
          onWeights={(weights) => set({ fair_weights: weights })}
        />
      </>
    )}
  </>
)
