import { useQuery } from '@tanstack/react-query'
import type { BuildAddress } from '../../../api/addresses.ts'
import type { JobTable } from '../../../graph/jobs/job-table.ts'
import { StateBadge } from '../../../parts/state-badge/StateBadge.tsx'
import { Empty, Loading, Problem } from '../../../parts/States.tsx'
import { Time } from '../../../parts/time/Time.tsx'
import { stepUploadsQuery } from '../queries.ts'
import content from '../Content.module.css'
import styles from './RowList.module.css'

interface Props {
  address: BuildAddress
  table: JobTable
  isRunning: boolean
}

export function StepUploads({ address, table, isRunning }: Props) {
  const { data, error, refetch } = useQuery({
    ...stepUploadsQuery(address),
    refetchInterval: isRunning ? 10_000 : false,
  })
  if (data === undefined) {
    return error === null ? <Loading /> : <Problem error={error} onRetry={() => void refetch()} />
  }
  if (data.items.length === 0) {
    return (
      <Empty title="No steps were uploaded">
        Jobs add steps to their build with <code>buildkite-agent pipeline upload</code>.
      </Empty>
    )
  }
  return (
    <div className={content.stack}>
      <ul className={styles.list}>
        {data.items.map((upload) => (
          <li key={upload.uuid} className={styles.row}>
            <StateBadge kind="upload" state={upload.state} />
            <span className={styles.name}>
              by <a href={`#${upload.source_job_id}`}>{table.job(upload.source_job_id)?.name ?? 'a job'}</a>
            </span>
            <span className={styles.aside}>{upload.created_jobs_count} jobs</span>
            <span className={styles.aside}>
              <Time at={upload.created_at} />
            </span>
            {upload.message !== null && <span className={styles.more}>{upload.message}</span>}
          </li>
        ))}
      </ul>
    </div>
  )
}
