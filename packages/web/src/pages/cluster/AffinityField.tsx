import { SelectField } from '../../parts/Field.tsx'
import type { Queue } from './queries.ts'

export type Affinity = Queue['retry_agent_affinity']

const names: Readonly<Record<Affinity, string>> = {
  'prefer-warmest': 'The warmest agent, even if it failed there',
  'prefer-different': 'Another agent than before',
}

/** Which agent gets a job that is retried. */
export const AffinityField = ({
  value,
  onValue,
}: {
  value: Affinity
  onValue: (value: Affinity) => void
}) => (
  <SelectField
    label="A retried job prefers"
    value={value}
    hint="Any other agent takes it when that one is busy."
    onValue={(next) => onValue(next as Affinity)}
  >
    {Object.entries(names).map(([each, name]) => (
      <option key={each} value={each}>
        {name}
      </option>
    ))}
  </SelectField>
)
