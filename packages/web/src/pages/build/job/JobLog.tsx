import { useCallback } from 'react'
import type { JobAddress } from '../../../api/addresses.ts'
import type { Job } from '../../../graph/jobs/job.ts'
import { LogView } from '../../../log/LogView.tsx'
import type { Lines } from '../../../log/selection.ts'
import type { Selection } from '../selection.ts'

interface Props {
  address: JobAddress
  job: Job
  selection: Selection
  isFull: boolean
  onFull: (() => void) | null
}

export function JobLog({ address, job, selection: { lines, select }, isFull, onFull }: Props) {
  const onLines = useCallback(
    (lines: Lines | null) => select(address.job, { lines, isQuiet: true }),
    [select, address.job],
  )
  return (
    <LogView
      key={address.job}
      {...address}
      label={`Log of ${job.name}`}
      isRunning={job.finishedMs === null}
      lines={lines}
      onLines={onLines}
      isFull={isFull}
      {...(onFull === null ? {} : { onFull })}
    />
  )
}
