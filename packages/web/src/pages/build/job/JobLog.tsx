import { useCallback } from 'react'
import type { Job } from '../../../graph/jobs/job.ts'
import { LogView } from '../../../log/LogView.tsx'
import type { Lines } from '../../../log/selection.ts'
import type { JobPlace } from '../queries.ts'
import type { Selection } from '../selection.ts'

interface Props {
  place: JobPlace
  job: Job
  selection: Selection
  isFull: boolean
  onFull: (() => void) | null
}

export function JobLog({ place, job, selection: { lines, select }, isFull, onFull }: Props) {
  const onLines = useCallback(
    (lines: Lines | null) => select(place.job, { lines, isQuiet: true }),
    [select, place.job],
  )
  return (
    <LogView
      key={place.job}
      org={place.org}
      pipeline={place.pipeline}
      build={Number(place.number)}
      job={place.job}
      label={`Log of ${job.name}`}
      isRunning={job.finishedMs === null}
      lines={lines}
      onLines={onLines}
      isFull={isFull}
      {...(onFull === null ? {} : { onFull })}
    />
  )
}
