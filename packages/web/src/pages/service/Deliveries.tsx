import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { SectionHead } from '../../parts/settings/SectionHead.tsx'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/time/Time.tsx'
import { deliveriesQuery, type Delivery, type ServiceAddress } from '../services/queries.ts'
import { deliveryStates, isDeliveryState } from '../services/words.ts'
import styles from './Deliveries.module.css'

const from = '/organizations/$org/settings/services/$service'

export function Deliveries({ address }: { address: ServiceAddress }) {
  const { state } = useSearch({ from })
  const navigate = useNavigate({ from })
  return (
    <>
      <SectionHead title="Deliveries">
        <select
          className={styles.select}
          aria-label="State of the deliveries"
          value={state ?? ''}
          onChange={({ target: { value } }) =>
            void navigate({ search: isDeliveryState(value) ? { state: value } : {}, replace: true })
          }
        >
          <option value="">All states</option>
          {Object.entries(deliveryStates).map(([each, name]) => (
            <option key={each} value={each}>
              {name}
            </option>
          ))}
        </select>
      </SectionHead>
      <List address={address} state={state} />
    </>
  )
}

function List({ address, state }: { address: ServiceAddress; state: Delivery['state'] | undefined }) {
  const list = useInfiniteQuery(deliveriesQuery(address, state))
  const rows = list.data?.pages.flatMap((page) => page.rows)
  if (rows === undefined) return <NotLoaded query={list} rows={3} />
  if (rows.length === 0)
    return <Empty title={state === undefined ? 'Nothing was sent yet' : 'No delivery is in this state'} />
  return (
    <>
      <Table
        label="Deliveries"
        rows={rows}
        columns={[
          {
            head: 'State',
            render: (delivery) => (
              <StateBadge
                kind="delivery"
                state={delivery.state}
                detail={{ failures: delivery.attempts_count }}
                isQuiet
              />
            ),
          },
          {
            head: 'Event',
            render: ({ id, event }) => (
              <Link to={`${from}/deliveries/$delivery`} params={{ ...address, delivery: id }}>
                {event}
              </Link>
            ),
          },
          { head: 'Build', look: 'aside', render: ({ build_url: url }) => buildName(url) },
          { head: 'Attempts', look: 'aside', render: ({ attempts_count: count }) => count },
          {
            head: 'When',
            look: 'muted',
            render: ({ finished_at: end, created_at: start }) => <Time at={end ?? start} />,
          },
        ]}
      />
      <ShowMore list={list} />
    </>
  )
}

/** `demo #12`, of an address of the API. */
function buildName(url: string | null): string {
  const [, pipeline, number] = /\/pipelines\/([^/]+)\/builds\/(\d+)$/.exec(url ?? '') ?? []
  return pipeline === undefined ? '' : `${pipeline} #${number}`
}
