import { TextField } from '../../parts/Field.tsx'
import type { Provider } from '../services/queries.ts'
import { buildStates } from '../services/words.ts'
import { ChoiceGroup } from './ChoiceGroup.tsx'
import type { ServiceForm } from './fields.ts'
import { ScopeFields } from './ScopeFields.tsx'
import { isMissing, isMoved } from './setting-values.ts'
import { SettingField } from './SettingField.tsx'

interface Props {
  org: string
  provider: Provider
  /** What is stored; null: it is a new service. */
  before: ServiceForm | null
  form: ServiceForm
  onChange: (change: Partial<ServiceForm>) => void
}

/** Of every service the same, and between them what its provider needs. */
export function ServiceFields({ org, provider, before, form, onChange }: Props) {
  const hasMoved = before !== null && isMoved(provider.settings, before.settings, form.settings)
  return (
    <>
      <TextField
        label="Name"
        value={form.description}
        maxLength={1000}
        placeholder={provider.name}
        hint="As lists show it. Left empty, it is the name of the provider."
        onValue={(description) => onChange({ description })}
      />
      {/* Nobody types the credentials of a connected site. */}
      {provider.settings
        .filter((setting) => before === null || !(setting.is_fixed && setting.shown === 'never'))
        .map((setting) => (
          <SettingField
            key={setting.name}
            setting={setting}
            isNew={before === null}
            hasMoved={hasMoved}
            value={form.settings[setting.name] ?? ''}
            problem={hasMoved && isMissing(setting, before.settings, form.settings) ? missingText : undefined}
            onValue={(value) => onChange({ settings: { ...form.settings, [setting.name]: value } })}
          />
        ))}
      {provider.selects_by !== 'events' && (
        <ChoiceGroup
          label="Tell it of a build when"
          {...(provider.selects_by === 'build_states_or_all' ? { hint: 'None chosen means always.' } : {})}
          choices={buildStates}
          chosen={form.states}
          onChoose={(states) => onChange({ states })}
        />
      )}
      <ScopeFields org={org} form={form} onChange={onChange} />
      <TextField
        label="Branches"
        value={form.branches}
        placeholder="main release/* !*-draft"
        hint="Patterns with spaces between; ! in front excludes. Left empty, all branches."
        onValue={(branches) => onChange({ branches })}
      />
    </>
  )
}

const missingText = 'Enter it again: it goes only where it was meant for, and the address has changed.'
