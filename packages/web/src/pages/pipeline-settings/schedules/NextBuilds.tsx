import { useQuery } from '@tanstack/react-query'
import { formatExact } from '../../../parts/time/durations.ts'
import type { PipelineAddress } from '../queries.ts'
import { previewQuery } from './queries.ts'
import styles from './schedules.module.css'

/** The next five times of a cron line, in the reader's time zone. */
export function NextBuilds({ address, cronline }: { address: PipelineAddress; cronline: string }) {
  const { data, error } = useQuery(previewQuery(address, cronline))
  if (error !== null) return <p className={styles.refused}>{error.message}</p>
  return (
    <p className={styles.next} aria-label="Next builds">
      Next:{' '}
      {data?.builds_at.map((time) => (
        <time key={time} dateTime={time} title={formatExact(Date.parse(time))} className={styles.time}>
          {formatDay(time)}
        </time>
      ))}
    </p>
  )
}

/** `Fri 20 Nov, 03:00` */
const formatDay = (time: string) =>
  new Date(time).toLocaleString(undefined, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  })
