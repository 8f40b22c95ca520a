import { useQuery } from '@tanstack/react-query'
import { useMemo, type ComponentProps } from 'react'
import type { BuildAddress } from '../../api/addresses.ts'
import type { Schemas } from '../../api/operations.ts'
import type { Job } from '../../graph/jobs/job.ts'
import { SummaryView } from '../../graph/summary/SummaryView.tsx'
import { showLabel } from '../../parts/labels.ts'
import { Expected } from '../../parts/time/Time.tsx'
import { isOver } from './build-actions.ts'
import { failureSummaryQuery, waitingQuery } from './queries.ts'
import styles from './Summary.module.css'

interface Props extends ComponentProps<typeof SummaryView> {
  address: BuildAddress
  build: Schemas['Build']
}

/** The jobs by what they mean, with the row that failed each, and why a build that only waits does so. */
export function Summary({ address, build, ...view }: Props) {
  const { counts, jobs } = view.table.groups()
  const { data } = useQuery({
    ...failureSummaryQuery(address),
    enabled: counts.failed > 0,
    refetchInterval: isOver(build) ? false : 10_000,
  })
  const failingTexts = useMemo(() => textsOf(data), [data])
  const [first] = jobs.waiting
  const onlyWaits = counts.running + counts.blocked + counts.failed === 0
  return (
    <div className={styles.summary}>
      <SummaryView {...view} failingTexts={failingTexts} />
      {/* Below the rows, so that none moves when it comes and goes. */}
      {onlyWaits && first !== undefined && !isOver(build) && <WhyWaiting address={address} job={first} />}
    </div>
  )
}

function textsOf(summary: Schemas['FailureSummary'] | undefined): ReadonlyMap<string, string> {
  const texts = (summary?.jobs ?? []).flatMap(({ id, log }): Array<[string, string]> => {
    const failing = log.rows.find(({ row }) => row !== null && row === log.failing_row)
    const text = failing?.text.trim() ?? ''
    return text === '' ? [] : [[id, text]]
  })
  return new Map(texts)
}

function WhyWaiting({ address, job }: { address: BuildAddress; job: Job }) {
  const { data } = useQuery(waitingQuery({ ...address, job: job.id }, job.state))
  return data === undefined ? null : (
    <p role="status" className={styles.waiting}>
      {job.name}: {showLabel(data.reason)}
      {data.estimated_start_at !== null && (
        <>
          {' '}
          It probably starts <Expected at={data.estimated_start_at} />.
        </>
      )}
    </p>
  )
}
