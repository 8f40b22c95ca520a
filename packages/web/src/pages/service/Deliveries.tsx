import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Button } from '../../parts/Button.tsx'
import { SectionHead } from '../../parts/settings/SectionHead.tsx'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/time/Time.tsx'
import { deliveriesQuery, type Delivery, type ServiceAddress } from '../services/queries.ts'
import { deliveryStates, isDeliveryState } from '../services/words.ts'
import styles from './Deliveries.module.css'
import { useTest } from './ServiceActions.tsx'

const from = '/organizations/$org/settings/services/$service'

interface Props {
  address: ServiceAddress
  /** Tests are sent through an enabled service only. */
  isEnabled: boolean
}

export function Deliveries({ address, isEnabled }: Props) {
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
      <List address={address} isEnabled={isEnabled} state={state} />
    </>
  )
}

function List({ address, isEnabled, state }: Props & { state: Delivery['state'] | undefined }) {
  const list = useInfiniteQuery(deliveriesQuery(address, state))
  const rows = list.data?.pages.flatMap((page) => page.rows)
  if (rows === undefined) return <NotLoaded query={list} rows={3} />
  if (rows.length === 0 && state !== undefined) return <Empty title="No delivery is in this state" />
  if (rows.length === 0)
    return (
      <Empty title="Nothing was sent yet" action={isEnabled && <FirstTest address={address} />}>
        A test shows what the receiver gets, and what it answers.
      </Empty>
    )
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

function FirstTest({ address }: { address: ServiceAddress }) {
  const test = useTest(address)
  return (
    <Button isWrite kind="primary" isBusy={test.isPending} onClick={() => test.mutate()}>
      Send the first test
    </Button>
  )
}

/** `demo #12`, of an address of the API. */
function buildName(url: string | null): string {
  const [, pipeline, number] = /\/pipelines\/([^/]+)\/builds\/(\d+)$/.exec(url ?? '') ?? []
  return pipeline === undefined ? '' : `${pipeline} #${number}`
}
