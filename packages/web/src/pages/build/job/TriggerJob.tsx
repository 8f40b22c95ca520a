import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { BuildAddress, JobAddress } from '../../../api/addresses.ts'
import type { Schemas } from '../../../api/operations.ts'
import type { Job } from '../../../graph/jobs/job.ts'
import { BuildDuration } from '../../builds/BuildDuration.tsx'
import { detailOf } from '../../builds/build-facts.ts'
import { Icon } from '../../../parts/Icon.tsx'
import { showLabel } from '../../../parts/labels.ts'
import { StateBadge } from '../../../parts/state-badge/StateBadge.tsx'
import { Loading } from '../../../parts/States.tsx'
import { buildQuery } from '../queries.ts'
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
  const target = { org: address.org, pipeline: pipelineOf(build.web_url), build: build.number }
  return (
    <div className={styles.scroll}>
      <div className={styles.stack}>
        <p className={styles.lead}>
          <Link to={new URL(build.web_url).pathname} className={styles.link}>
            <Icon name="arrow-right" />
            {target.pipeline} #{build.number}
          </Link>
        </p>
        <Triggered address={target} />
        <p className={styles.note}>
          {detail.async === true
            ? 'This build did not wait for it.'
            : 'This job ends as the triggered build ends.'}
        </p>
      </div>
    </div>
  )
}

const pipelineOf = (webUrl: string) => new URL(webUrl).pathname.split('/')[2] ?? ''

/** Its state, message and duration, for readers who may see its pipeline. */
function Triggered({ address }: { address: BuildAddress }) {
  const { data: build } = useQuery({ ...buildQuery(address), retry: false, refetchInterval: 10_000 })
  if (build === undefined) return null
  return (
    <p>
      <StateBadge kind="build" state={build.state} detail={detailOf(build)} />{' '}
      {showLabel((build.message ?? '').split('\n', 1)[0] ?? '')}{' '}
      <span className="muted">
        <BuildDuration build={build} />
      </span>
    </p>
  )
}
