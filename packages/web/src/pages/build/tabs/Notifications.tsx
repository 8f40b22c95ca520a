import { useInfiniteQuery } from '@tanstack/react-query'
import type { BuildAddress } from '../../../api/addresses.ts'
import type { Schemas } from '../../../api/operations.ts'
import { StateBadge } from '../../../parts/state-badge/StateBadge.tsx'
import { Empty, Loading, Problem } from '../../../parts/States.tsx'
import { Time } from '../../../parts/time/Time.tsx'
import { commitStatusesQuery, deliveriesQuery } from '../queries.ts'
import content from '../Content.module.css'
import styles from './RowList.module.css'

/** What was sent out about the build. */
export function Notifications({ address }: { address: BuildAddress }) {
  const deliveries = useInfiniteQuery(deliveriesQuery(address))
  const statuses = useInfiniteQuery(commitStatusesQuery(address))
  const error = deliveries.error ?? statuses.error
  if (error !== null) return <Problem error={error} onRetry={() => void deliveries.refetch()} />
  if (deliveries.data === undefined || statuses.data === undefined) return <Loading />
  const sent = deliveries.data.pages.flatMap(({ rows }) => rows)
  const reported = statuses.data.pages.flatMap(({ rows }) => rows)
  if (sent.length + reported.length === 0) {
    return (
      <Empty title="Nobody was told about this build">
        Pipelines name whom to tell in <code>notify</code>.
      </Empty>
    )
  }
  return (
    <div className={content.stack}>
      {sent.length > 0 && (
        <section>
          <h2>Notifications</h2>
          <ul className={styles.list}>
            {sent.map((delivery) => (
              <Delivery key={delivery.id} delivery={delivery} />
            ))}
          </ul>
        </section>
      )}
      {reported.length > 0 && (
        <section>
          <h2>Commit statuses</h2>
          <ul className={styles.list}>
            {reported.map((status) => (
              <Status key={status.id} status={status} />
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

const Delivery = ({ delivery }: { delivery: Schemas['BuildDelivery'] }) => (
  <li className={styles.row}>
    <StateBadge
      kind="delivery"
      state={delivery.state}
      detail={{ failures: delivery.error === null ? 0 : delivery.attempts_count }}
    />
    <span className={styles.name}>{delivery.to}</span>
    <span className="muted">{delivery.event}</span>
    <span className="muted">
      <Time at={delivery.created_at} />
    </span>
    {delivery.error !== null && <span className={styles.more}>{delivery.error}</span>}
  </li>
)

const Status = ({ status }: { status: Schemas['CommitStatus'] }) => (
  <li className={styles.row}>
    <StateBadge kind="status" state={status.state} />
    <span className={styles.name}>
      {status.context}: {status.description}
    </span>
    <span className="muted">
      {status.delivered_at === null ? 'not delivered yet' : <Time at={status.delivered_at} />}
    </span>
    {status.error !== null && <span className={styles.more}>{status.error}</span>}
  </li>
)
