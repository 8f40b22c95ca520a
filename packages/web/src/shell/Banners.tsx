import { useQuery } from '@tanstack/react-query'
import { Button } from '../parts/Button.tsx'
import { useNow } from '../parts/time/clock.ts'
import { Icon } from '../parts/Icon.tsx'
import { showLabel } from '../parts/labels.ts'
import { tryNow, useConnection } from './connection.ts'
import { bannersQuery } from './queries.ts'
import { StoppedServices } from './StoppedServices.tsx'
import styles from './Banners.module.css'

export function Banners({ org }: { org: string | null }) {
  const { isReachable } = useConnection()
  return (
    <>
      {!isReachable && <Offline />}
      {org !== null && <OrganizationBanner org={org} />}
      {org !== null && <StoppedServices org={org} />}
    </>
  )
}

/** What administrators tell all members. Pages show it once it is there, and nothing if it cannot be read. */
function OrganizationBanner({ org }: { org: string }) {
  const { data } = useQuery(bannersQuery(org))
  const message = data?.[0]?.message
  return message === undefined ? null : (
    <div className={styles.banner} role="note" aria-label="Message of the organization">
      <Icon name="info" />
      <span>{showLabel(message)}</span>
    </div>
  )
}

function Offline() {
  const { lastMs, nextTryMs } = useConnection()
  const nowMs = useNow()
  const seconds = Math.max(0, Math.ceil((nextTryMs - nowMs) / 1000))
  const asOf = new Date(lastMs).toLocaleTimeString(undefined, { timeStyle: 'short' })
  return (
    <div className={`${styles.banner} ${styles.short}`} role="status">
      <Icon name="wifi-off" />
      <span>
        The server cannot be reached. As of {asOf}.{' '}
        {seconds > 0 ? `Reconnecting in ${seconds} s` : 'Reconnecting…'}
      </span>
      <Button kind="quiet" onClick={() => void tryNow()}>
        Now
      </Button>
    </div>
  )
}
