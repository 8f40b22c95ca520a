import { useQuery } from '@tanstack/react-query'
import { Button } from '../../parts/Button.tsx'
import { SelectField, TextField } from '../../parts/Field.tsx'
import { FieldGroup } from '../../parts/settings/FieldGroup.tsx'
import { showLabel } from '../../parts/labels.ts'
import { teamsQuery } from '../teams/queries.ts'
import type { Sso } from './queries.ts'
import styles from './GroupTeams.module.css'

interface Props {
  org: string
  value: Sso['group_teams']
  onChange: (value: Sso['group_teams']) => void
}

/** Which group of the provider leads to which team. */
export function GroupTeams({ org, value, onChange }: Props) {
  const { data: teams = [] } = useQuery(teamsQuery(org))
  const [first] = teams
  const change = (at: number, next: Partial<Sso['group_teams'][number]>) =>
    onChange(value.map((pair, index) => (index === at ? { ...pair, ...next } : pair)))
  return (
    <FieldGroup label="Groups and teams">
      <p className="muted">Whoever signs in is in the teams of their groups, and in no other by a group.</p>
      {value.map(({ group, team_id: team }, index) => (
        // Pairs have no name of their own, and are not sorted.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={index} className={styles.pair}>
          <TextField
            label="Group"
            value={group}
            required
            maxLength={255}
            onValue={(text) => change(index, { group: text })}
          />
          <SelectField label="Team" value={team} onValue={(id) => change(index, { team_id: id })}>
            {teams.map(({ id, name }) => (
              <option key={id} value={id}>
                {showLabel(name)}
              </option>
            ))}
          </SelectField>
          <Button
            aria-label={`Remove the group ${group}`}
            onClick={() => onChange(value.filter((_, each) => each !== index))}
          >
            Remove
          </Button>
        </div>
      ))}
      <Button
        disabled={first === undefined}
        title={first === undefined ? 'Make a team first' : undefined}
        onClick={() => first !== undefined && onChange([...value, { group: '', team_id: first.id }])}
      >
        Add a group
      </Button>
    </FieldGroup>
  )
}
