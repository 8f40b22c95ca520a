import { useCallback, useSyncExternalStore } from 'react'
import type { JobTable } from './job-table.ts'
import type { StepSummary } from './step-summary.ts'

/** Renders again with every applied change, at most once a frame. */
export function useJobTable(table: JobTable): JobTable {
  useSyncExternalStore(table.subscribe, () => table.version)
  return table
}

/** Renders again when steps or edges change. */
export function useShape(table: JobTable): number {
  return useSyncExternalStore(table.subscribe, () => table.shapeVersion)
}

/** Renders again when a job of the step changes. */
export function useStepSummary(table: JobTable, stepId: string): StepSummary {
  const subscribe = useCallback(
    (listener: () => void) => table.subscribeToStep(stepId, listener),
    [table, stepId],
  )
  return useSyncExternalStore(subscribe, () => table.summaryOf(stepId))
}
