import { useQuery } from '@tanstack/react-query'
import type { JobAddress } from '../../../api/addresses.ts'
import { useWritesOff } from '../../../api/reachable.ts'
import type { Schemas } from '../../../api/operations.ts'
import type { JobTable } from '../../../graph/jobs/job-table.ts'
import type { Job } from '../../../graph/jobs/job.ts'
import { useKeys } from '../../../parts/keys.ts'
import { isCanceled } from '../build-actions.ts'
import { JobContent } from './JobContent.tsx'
import { JobHeader, type PanelControls } from './JobHeader.tsx'
import { canCancel, canRetry, useJobActions } from './job-actions.ts'
import { JobTabs } from './JobTabs.tsx'
import { jobQuery } from '../queries.ts'
import type { PanelName } from '../search.ts'
import type { Selection } from '../selection.ts'
import styles from './JobPanel.module.css'

interface Props extends PanelControls {
  address: JobAddress
  build: Schemas['Build']
  job: Job
  table: JobTable
  tab: PanelName
  selection: Selection
  mayBuild: boolean
}

export function JobPanel({ address, build, job, table, tab, selection, mayBuild, ...controls }: Props) {
  const { data: detail } = useQuery({
    ...jobQuery(address, job.state),
    placeholderData: (before) => (before?.id === job.id ? before : undefined),
  })
  const actions = useJobActions({
    address,
    job,
    table,
    onRetried: (id) => selection.select(id, { isQuiet: true }),
  })
  const mayRetry = mayBuild && canRetry(job) && !isCanceled(build)
  const areWritesOff = useWritesOff() !== undefined
  useKeys(mayRetry && !areWritesOff ? [{ keys: 'r', label: 'Retry this job', run: actions.retry.start }] : [])
  return (
    <section className={styles.panel} aria-label={`Job ${job.name}`}>
      <JobHeader
        address={address}
        job={job}
        attempts={table.attemptsOf(job.id)}
        detail={detail}
        actions={actions}
        mayRetry={mayRetry}
        mayCancel={mayBuild && canCancel(job)}
        mayBuild={mayBuild}
        onSelect={(id) => selection.select(id, { isQuiet: true })}
        {...controls}
      />
      <JobTabs job={job} tab={tab} />
      <div className={styles.content}>
        <JobContent
          address={address}
          job={job}
          detail={detail}
          table={table}
          tab={tab}
          selection={selection}
          isFull={controls.isFull}
          onFull={controls.onFull}
        />
      </div>
    </section>
  )
}
