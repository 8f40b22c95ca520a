import { Button } from '../parts/Button.tsx'
import { useNow } from '../parts/time/clock.ts'
import { Icon } from '../parts/Icon.tsx'
import { tryNow, useConnection } from './connection.ts'
import styles from './Banners.module.css'

export function Banners() {
  const { isReachable } = useConnection()
  return isReachable ? null : <Offline />
}

function Offline() {
  const { lastMs, nextTryMs } = useConnection()
  const nowMs = useNow()
  const seconds = Math.max(0, Math.ceil((nextTryMs - nowMs) / 1000))
  const asOf = new Date(lastMs).toLocaleTimeString(undefined, { timeStyle: 'short' })
  return (
    <div className={styles.banner} role="status">
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
