import { useNavigate } from '@tanstack/react-router'
import { Button } from '../../parts/Button.tsx'
import { SelectField, TextField } from '../../parts/Field.tsx'
import { SearchBox } from '../../parts/SearchBox.tsx'
import type { AuditSearch } from './search.ts'
import { eventWords } from './words.ts'
import styles from './Filters.module.css'

/** What people look for; others are found by opening an event and choosing its kind. */
const types = [
  'OrganizationMemberCreatedEvent',
  'OrganizationMemberUpdatedEvent',
  'OrganizationMemberDeletedEvent',
  'OrganizationInvitationCreatedEvent',
  'OrganizationUpdatedEvent',
  'OrganizationSecuritySettingsUpdatedEvent',
  'TeamCreatedEvent',
  'TeamUpdatedEvent',
  'TeamMemberCreatedEvent',
  'TeamPipelineCreatedEvent',
  'PipelineCreatedEvent',
  'PipelineUpdatedEvent',
  'PipelineDeletedEvent',
  'ClusterTokenCreatedEvent',
  'SecretCreatedEvent',
  'SecretReadEvent',
  'ApiAccessTokenCreatedEvent',
  'SsoProviderUpdatedEvent',
]

export function Filters({ search }: { search: AuditSearch }) {
  const navigate = useNavigate({ from: '/organizations/$org/settings/audit-log' })
  const set = (name: keyof AuditSearch, value: string) =>
    void navigate({
      search: ({ [name]: _before, ...rest }) => (value === '' ? rest : { ...rest, [name]: value }),
      replace: true,
    })
  const shown = search.type === undefined || types.includes(search.type) ? types : [search.type, ...types]
  const isNarrowed = Object.keys(search).length > 0
  return (
    <search className={styles.filters}>
      <SearchBox label="Find a name" text={search.q ?? ''} onSearch={(q) => set('q', q)} />
      <div className={styles.field}>
        <SelectField label="What" value={search.type ?? ''} onValue={(type) => set('type', type)}>
          <option value="">Everything</option>
          {shown.map((type) => (
            <option key={type} value={type}>
              {eventWords(type)}
            </option>
          ))}
        </SelectField>
      </div>
      <div className={styles.field}>
        <TextField label="From" type="date" value={search.from ?? ''} onValue={(from) => set('from', from)} />
      </div>
      <div className={styles.field}>
        <TextField label="Until" type="date" value={search.to ?? ''} onValue={(to) => set('to', to)} />
      </div>
      {isNarrowed && <Button onClick={() => void navigate({ search: {} })}>Clear filters</Button>}
    </search>
  )
}
