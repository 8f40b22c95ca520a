import type { Schemas } from '../../../api/operations.ts'
import type { JobTable } from '../../../graph/jobs/job-table.ts'
import type { Job } from '../../../graph/jobs/job.ts'
import { JobArtifacts } from './JobArtifacts.tsx'
import { JobEnvironment } from './JobEnvironment.tsx'
import { JobLog } from './JobLog.tsx'
import { JobTimeline } from './JobTimeline.tsx'
import { ManualJob } from './ManualJob.tsx'
import type { JobPlace } from '../queries.ts'
import type { PanelName } from '../search.ts'
import type { Selection } from '../selection.ts'
import { TriggerJob } from './TriggerJob.tsx'
import { hasNotStarted, UnstartedJob } from './UnstartedJob.tsx'

interface Props {
  place: JobPlace
  job: Job
  detail: Schemas['Job'] | undefined
  table: JobTable
  tab: PanelName
  selection: Selection
  mayBuild: boolean
  isFull: boolean
  onFull: (() => void) | null
}

export function JobContent(props: Props) {
  const { place, job, detail, table, tab } = props
  if (tab === 'timeline') return <JobTimeline job={job} detail={detail} org={place.org} />
  if (job.kind === 'block' || job.kind === 'input') {
    return <ManualJob place={place} job={job} detail={detail} table={table} mayBuild={props.mayBuild} />
  }
  if (job.kind === 'trigger') return <TriggerJob place={place} job={job} detail={detail} />
  if (tab === 'artifacts') return <JobArtifacts place={place} />
  if (tab === 'environment') return <JobEnvironment place={place} />
  if (hasNotStarted(job)) return <UnstartedJob place={place} job={job} />
  return (
    <JobLog place={place} job={job} selection={props.selection} isFull={props.isFull} onFull={props.onFull} />
  )
}
