import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { serviceName } from '../../api/resource-queries.ts'
import { LinkButton } from '../../parts/Button.tsx'
import { showLabel } from '../../parts/labels.ts'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/time/Time.tsx'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import { servicesQuery, type Service } from './queries.ts'
import { serviceState } from './words.ts'

export function ServicesPage() {
  const { org } = useParams({ from: '/organizations/$org/settings/services' })
  return (
    <OrganizationSettings
      org={org}
      name="services"
      subtitle="They tell chats, webhooks and other systems what happens to builds and agents."
      actions={
        <LinkButton
          kind="primary"
          icon="plus"
          to="/organizations/$org/settings/services/new"
          params={{ org }}
        >
          New service
        </LinkButton>
      }
    >
      <Services org={org} />
    </OrganizationSettings>
  )
}

function Services({ org }: { org: string }) {
  const list = useInfiniteQuery(servicesQuery(org))
  const rows = list.data?.pages.flatMap((page) => page.rows)
  if (rows === undefined) return <NotLoaded query={list} />
  if (rows.length === 0)
    return <Empty title="No notification service yet">Make one, and send a test through it.</Empty>
  return (
    <>
      <Table
        label="Notification services"
        rows={rows}
        columns={[
          {
            head: 'Name',
            titleOf: serviceName,
            render: (service) => (
              <Link to="/organizations/$org/settings/services/$service" params={{ org, service: service.id }}>
                {showLabel(serviceName(service))}
              </Link>
            ),
          },
          { head: 'Provider', look: 'aside', render: ({ provider }) => provider.name },
          {
            head: 'State',
            titleOf: ({ broken_reason: reason }) => reason ?? undefined,
            render: (service) => <StateBadge kind="service" state={serviceState(service)} isQuiet />,
          },
          {
            head: 'Last delivery',
            look: 'optional',
            render: (service) => <LastDelivery service={service} />,
          },
          {
            head: 'Why it stopped',
            look: 'aside',
            titleOf: ({ broken_reason: reason }) => reason ?? undefined,
            render: ({ broken_reason: reason }) => reason ?? '',
          },
        ]}
      />
      <ShowMore list={list} />
    </>
  )
}

function LastDelivery({ service: { last_delivery: last } }: { service: Pick<Service, 'last_delivery'> }) {
  if (last === null || last === undefined) return <span className="muted">None yet</span>
  return (
    <>
      <StateBadge kind="delivery" state={last.state} isQuiet />{' '}
      <Time at={last.finished_at ?? last.created_at} />
    </>
  )
}
