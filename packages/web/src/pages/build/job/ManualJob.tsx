import type { JobAddress } from '../../../api/addresses.ts'
import type { Schemas } from '../../../api/operations.ts'
import type { JobTable } from '../../../graph/jobs/job-table.ts'
import type { Job } from '../../../graph/jobs/job.ts'
import { showLabel } from '../../../parts/labels.ts'
import { Loading } from '../../../parts/States.tsx'
import { Time } from '../../../parts/time/Time.tsx'
import { Prompt } from './Prompt.tsx'
import { UnblockForm } from './UnblockForm.tsx'
import { hasNotStarted, UnstartedJob } from './UnstartedJob.tsx'
import styles from '../Content.module.css'

interface Props {
  address: JobAddress
  job: Job
  detail: Schemas['Job'] | undefined
  table: JobTable
}

/** A block or an input. */
export function ManualJob({ address, job, detail, table }: Props) {
  if (detail === undefined) return <Loading rows={3} />
  if (job.isUnblockable && detail.viewer?.may.unblock === true) {
    return (
      <div className={styles.scroll}>
        <UnblockForm address={address} job={job} detail={detail} table={table} />
      </div>
    )
  }
  if (detail.unblocked_at) {
    return (
      <div className={styles.scroll}>
        <p className={styles.lead}>
          Unblocked{detail.unblocked_by ? ` by ${detail.unblocked_by.name}` : ''}{' '}
          <Time at={detail.unblocked_at} />
        </p>
      </div>
    )
  }
  if (job.isUnblockable) {
    return (
      <div className={styles.scroll}>
        <div className={styles.stack}>
          <p className={styles.lead}>The build waits until somebody unblocks it.</p>
          <Prompt text={detail.prompt} />
          <p className={styles.note}>{whoMayUnblock(detail.viewer?.unblock_teams ?? [])}</p>
        </div>
      </div>
    )
  }
  return hasNotStarted(job) ? <UnstartedJob address={address} job={job} /> : null
}

const whoMayUnblock = (teams: readonly string[]): string =>
  teams.length > 0
    ? `Only members of ${new Intl.ListFormat('en', { type: 'disjunction' }).format(teams.map(showLabel))} may unblock this.`
    : 'You may read this pipeline but not run builds of it. Administrators of the organization and teams that may build this pipeline can unblock it.'
