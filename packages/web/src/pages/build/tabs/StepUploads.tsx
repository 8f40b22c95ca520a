import { useQuery } from '@tanstack/react-query'
import type { BuildAddress } from '../../../api/addresses.ts'
import type { JobTable } from '../../../graph/jobs/job-table.ts'
import { showLabel } from '../../../parts/labels.ts'
import { StateBadge } from '../../../parts/state-badge/StateBadge.tsx'
import { Empty, NotLoaded } from '../../../parts/States.tsx'
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
  const query = useQuery({ ...stepUploadsQuery(address), refetchInterval: isRunning ? 10_000 : false })
  if (query.data === undefined) return <NotLoaded query={query} />
  const uploads = query.data.items
  if (uploads.length === 0) {
    return (
      <Empty title="No steps were uploaded">
        Jobs add steps to their build with <code>buildkite-agent pipeline upload</code>.
      </Empty>
    )
  }
  return (
    <div className={content.stack}>
      <ul className={styles.list}>
        {uploads.map((upload) => (
          <li key={upload.uuid} className={styles.row}>
            <StateBadge kind="upload" state={upload.state} />
            <span className={styles.name}>
              by <a href={`#${upload.source_job_id}`}>{table.job(upload.source_job_id)?.name ?? 'a job'}</a>
            </span>
            <span className="muted">{upload.created_jobs_count} jobs</span>
            <span className="muted">
              <Time at={upload.created_at} />
            </span>
            {upload.message !== null && <span className={styles.more}>{showLabel(upload.message)}</span>}
          </li>
        ))}
      </ul>
    </div>
  )
}
