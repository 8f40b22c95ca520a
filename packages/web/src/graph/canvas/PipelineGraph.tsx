import { useMemo } from 'react'
import { GraphView } from './GraphView.tsx'
import { JobTable } from '../jobs/job-table.ts'
import type { GraphStep } from '../jobs/job.ts'

interface Props {
  steps: readonly GraphStep[]
  /** Pairs of step ids: the second waits for the first. */
  edges: ReadonlyArray<readonly string[]>
}

/** The graph of a pipeline before it has jobs. */
export function PipelineGraph({ steps, edges }: Props) {
  const table = useMemo(() => new JobTable({ steps, edges, jobs: [] }), [steps, edges])
  return <GraphView table={table} selectedJob={null} onSelect={ignore} />
}

const ignore = () => undefined
