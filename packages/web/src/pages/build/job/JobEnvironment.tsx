import { useQuery } from '@tanstack/react-query'
import type { JobAddress } from '../../../api/addresses.ts'
import { Empty, Loading, Problem } from '../../../parts/States.tsx'
import { Facts } from '../../../parts/Facts.tsx'
import { jobEnvironmentQuery } from '../queries.ts'
import styles from '../Content.module.css'

export function JobEnvironment({ address }: { address: JobAddress }) {
  const { data, error, refetch } = useQuery(jobEnvironmentQuery(address))
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
