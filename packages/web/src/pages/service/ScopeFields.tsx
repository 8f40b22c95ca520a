import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button, IconButton } from '../../parts/Button.tsx'
import { AddDialog } from '../../parts/dialogs/AddDialog.tsx'
import { SelectField } from '../../parts/Field.tsx'
import { showLabel } from '../../parts/labels.ts'
import { FieldGroup } from '../../parts/settings/FieldGroup.tsx'
import { organizationQuery } from '../../shell/queries.ts'
import type { Service } from '../services/queries.ts'
import { scopes } from '../services/words.ts'
import type { ServiceForm, Target } from './fields.ts'
import { findTargets } from './find-targets.ts'
import styles from './ServiceFields.module.css'

interface Props {
  org: string
  form: ServiceForm
  onChange: (change: Partial<ServiceForm>) => void
}

/** Pipelines that a service hears of: all of them, or some by name, team or cluster. */
export function ScopeFields({ org, form, onChange }: Props) {
  const { data: organization } = useQuery(organizationQuery(org))
  const hasTeams = organization?.teams_enabled === true || form.scope === 'some_teams'
  const offered = Object.entries(scopes).filter(([scope]) => scope !== 'some_teams' || hasTeams)
  return (
    <>
      <SelectField
        label="Pipelines"
        value={form.scope}
        onValue={(scope) => onChange({ scope: scope as Service['scope'], targets: [] })}
      >
        {offered.map(([scope, name]) => (
          <option key={scope} value={scope}>
            {name}
          </option>
        ))}
      </SelectField>
      {form.scope !== 'all' && (
        <Targets
          org={org}
          scope={form.scope}
          targets={form.targets}
          onTargets={(targets) => onChange({ targets })}
        />
      )}
    </>
  )
}

interface TargetProps {
  org: string
  scope: Exclude<Service['scope'], 'all'>
  targets: readonly Target[]
  onTargets: (targets: Target[]) => void
}

const nouns = { some_projects: 'pipeline', some_teams: 'team', some_clusters: 'cluster' } as const

function Targets({ org, scope, targets, onTargets }: TargetProps) {
  const [isAdding, setAdding] = useState(false)
  const noun = nouns[scope]
  const nameOf = ({ name }: Target) => (name === null ? `A ${noun} that you may not see` : showLabel(name))
  return (
    <FieldGroup label={`Which ${noun}s`}>
      <ul className={styles.targets}>
        {targets.map((target) => (
          <li key={target.id} className={styles.target}>
            {nameOf(target)}
            <IconButton
              label={`Take ${nameOf(target)} out`}
              icon="x"
              onClick={() => onTargets(targets.filter(({ id }) => id !== target.id))}
            />
          </li>
        ))}
        <li>
          <Button icon="plus" onClick={() => setAdding(true)}>
            Add {noun}s…
          </Button>
        </li>
      </ul>
      {isAdding && (
        <AddDialog
          title={`Add ${noun}s`}
          searchLabel={`Find a ${noun}`}
          find={(text, signal) => findTargets(org, scope, text, signal)}
          findKey={['targets of services', org, scope]}
          present={new Set(targets.map(({ id }) => id))}
          onAdd={async (id, name) => onTargets([...targets, { id, name }])}
          onClose={() => setAdding(false)}
        />
      )}
    </FieldGroup>
  )
}
