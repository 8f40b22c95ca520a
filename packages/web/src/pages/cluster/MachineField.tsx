import type { Answer } from '../../api/call.ts'
import { SelectField } from '../../parts/Field.tsx'
import { describeMachine } from './machines.ts'

export type Machine = Answer<'GET /v2/organizations/{org}/instance_shapes'>[number]['name']

interface Props {
  machines: readonly Machine[]
  /** null: people start the agents. */
  value: Machine | null
  onValue: (machine: Machine | null) => void
}

/** For a new queue of a hosted cluster. */
export const MachineField = ({ machines, value, onValue }: Props) => (
  <SelectField
    label="Machine of its agents"
    value={value ?? ''}
    onValue={(name) => onValue(machines.find((each) => each === name) ?? null)}
  >
    {machines.map((name) => (
      <option key={name} value={name}>
        {describeMachine(name)}
      </option>
    ))}
    <option value="">None: people start its agents</option>
  </SelectField>
)
