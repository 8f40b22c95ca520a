import { Link } from '@tanstack/react-router'
import type { JobAddress } from '../../../api/addresses.ts'
import type { Schemas } from '../../../api/operations.ts'
import type { Job } from '../../../graph/jobs/job.ts'
import { Icon } from '../../../parts/Icon.tsx'
import { Loading } from '../../../parts/States.tsx'
import { hasNotStarted, UnstartedJob } from './UnstartedJob.tsx'
import styles from '../Content.module.css'

interface Props {
  address: JobAddress
  job: Job
  detail: Schemas['Job'] | undefined
}

export function TriggerJob({ address, job, detail }: Props) {
  if (detail === undefined) return <Loading />
  const { triggered_build: build } = detail
  if (!build) {
    return hasNotStarted(job) ? (
      <UnstartedJob address={address} job={job} />
    ) : (
      <div className={styles.scroll}>
        <p className={styles.lead}>No build was triggered{job.note === null ? '.' : `: ${job.note}`}</p>
      </div>
    )
  }
  return (
    <div className={styles.scroll}>
      <div className={styles.stack}>
        <p className={styles.lead}>
          <Link to={new URL(build.web_url).pathname} className={styles.link}>
            <Icon name="arrow-right" />
            The triggered build, #{build.number}
          </Link>
        </p>
        <p className={styles.note}>
          {detail.async === true
            ? 'This build did not wait for it.'
            : 'This job ends as the triggered build ends.'}
        </p>
      </div>
    </div>
  )
}
