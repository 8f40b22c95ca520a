import { Icon } from '../../../parts/Icon.tsx'
import { toneClass } from '../../../parts/state-badge/StateBadge.tsx'
import { Time } from '../../../parts/time/Time.tsx'
import styles from './Health.module.css'
import type { RepositoryHealth } from './health-query.ts'

export function LastDelivery({ delivery }: { delivery: RepositoryHealth['last_delivery'] }) {
  if (delivery === null) {
    return (
      <span className={`${styles.outcome} ${toneClass('idle')}`}>
        <Icon name="circle-dashed" size={14} /> None has come yet.
      </span>
    )
  }
  const isGood = delivery.status === 200
  return (
    <span className={styles.delivery}>
      <span className={`${styles.outcome} ${toneClass(isGood ? 'passed' : 'failed')}`}>
        <Icon name={isGood ? 'circle-check' : 'circle-x'} size={14} />
        {isGood ? 'The webhook works' : `Refused with ${delivery.status}`}
      </span>
      <span>
        {delivery.event}, <Time at={delivery.received_at} />. {delivery.message}
      </span>
    </span>
  )
}
