import { useQuery } from '@tanstack/react-query'
import { Empty, Loading, Problem } from '../../../parts/States.tsx'
import { Facts } from '../../../parts/Facts.tsx'
import { jobEnvironmentQuery, type JobPlace } from '../queries.ts'
import styles from '../Content.module.css'

export function JobEnvironment({ place }: { place: JobPlace }) {
  const { data, error, refetch } = useQuery(jobEnvironmentQuery(place))
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />
  if (data === undefined || typeof data === 'string') return <Loading />
  const entries = Object.entries(data.env).sort(([a], [b]) => a.localeCompare(b))
  return (
    <div className={styles.scroll}>
      {entries.length === 0 ? (
        <Empty title="This job has no environment." />
      ) : (
        <Facts facts={entries} isCode />
      )}
    </div>
  )
}
