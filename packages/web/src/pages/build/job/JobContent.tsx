import type { JobAddress } from '../../../api/addresses.ts'
import type { Schemas } from '../../../api/operations.ts'
import type { JobTable } from '../../../graph/jobs/job-table.ts'
import type { Job } from '../../../graph/jobs/job.ts'
import { JobArtifacts } from './JobArtifacts.tsx'
import { JobEnvironment } from './JobEnvironment.tsx'
import { JobLog } from './JobLog.tsx'
import { JobTimeline } from './JobTimeline.tsx'
import { ManualJob } from './ManualJob.tsx'
import type { PanelName } from '../search.ts'
import type { Selection } from '../selection.ts'
import { TriggerJob } from './TriggerJob.tsx'
import { hasNotStarted, UnstartedJob } from './UnstartedJob.tsx'

interface Props {
  address: JobAddress
  job: Job
  detail: Schemas['Job'] | undefined
  table: JobTable
  tab: PanelName
  selection: Selection
  isFull: boolean
  onFull: (() => void) | null
}

export function JobContent(props: Props) {
  const { address, job, detail, table, tab } = props
  if (tab === 'timeline') return <JobTimeline job={job} detail={detail} org={address.org} />
  if (job.kind === 'block' || job.kind === 'input') {
    return <ManualJob address={address} job={job} detail={detail} table={table} />
  }
  if (job.kind === 'trigger') return <TriggerJob address={address} job={job} detail={detail} />
  if (tab === 'artifacts') return <JobArtifacts address={address} />
  if (tab === 'environment') return <JobEnvironment address={address} />
  if (hasNotStarted(job)) return <UnstartedJob address={address} job={job} />
  return (
    <JobLog
      address={address}
      job={job}
      selection={props.selection}
      isFull={props.isFull}
      onFull={props.onFull}
    />
  )
}
