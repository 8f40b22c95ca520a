import { useQuery } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { ExternalLinkButton } from '../../parts/Button.tsx'
import { Missing, NotLoaded } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { providersQuery, type Provider } from '../services/queries.ts'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import { NewService } from './NewService.tsx'

export function NewServicePage() {
  const { org } = useParams({ from: '/organizations/$org/settings/services/new' })
  const { provider } = useSearch({ from: '/organizations/$org/settings/services/new' })
  return (
    <OrganizationSettings
      org={org}
      name="services"
      title="New service"
      subtitle={provider === undefined ? 'Choose what it sends, and where.' : undefined}
    >
      <Content key={provider} org={org} chosen={provider} />
    </OrganizationSettings>
  )
}

function Content({ org, chosen }: { org: string; chosen: string | undefined }) {
  const providers = useQuery(providersQuery(org))
  if (providers.data === undefined) return <NotLoaded query={providers} />
  if (chosen === undefined) return <Choice org={org} providers={providers.data.filter(isOffered)} />
  const provider = providers.data.find(({ id }) => id === chosen)
  if (provider === undefined || !isOffered(provider)) return <Missing what="This provider" />
  return <NewService org={org} provider={provider} />
}

/** What would be refused is not offered. */
const isOffered = ({ same_as: sameAs, is_available: isAvailable }: Provider) => sameAs === null && isAvailable

function Choice({ org, providers }: { org: string; providers: readonly Provider[] }) {
  return (
    <Table
      label="Providers"
      rows={providers}
      columns={[
        {
          head: 'Provider',
          render: ({ id, name, connect_url: connectUrl }) =>
            connectUrl === null ? (
              <Link to="/organizations/$org/settings/services/new" params={{ org }} search={{ provider: id }}>
                {name}
              </Link>
            ) : (
              name
            ),
        },
        {
          head: 'What it sends',
          look: 'muted',
          titleOf: ({ summary }) => summary,
          render: ({ summary }) => summary,
        },
      ]}
      renderAction={({ connect_url: connectUrl }) =>
        connectUrl !== null && <ExternalLinkButton href={connectUrl}>Connect…</ExternalLinkButton>
      }
    />
  )
}
