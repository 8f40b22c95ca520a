import { useCallback, useLayoutEffect, useRef, type MouseEvent } from 'react'
import type { JobTable } from './jobs/job-table.ts'

/** The four views of a build share these props. */
export interface ViewProps {
  table: JobTable
  selectedJob: string | null
  onSelect: (jobId: string) => void
}

/** A plain click selects in the page. Others, such as those for a new tab, follow the link. */
export function selectOnClick(onSelect: () => void) {
  return (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0) return
    event.preventDefault()
    onSelect()
  }
}

/** The same function for every render, so that rows of which nothing changed are not rendered again. */
export function useStableSelect(onSelect: ViewProps['onSelect']): ViewProps['onSelect'] {
  const latest = useRef(onSelect)
  useLayoutEffect(() => {
    latest.current = onSelect
  })
  return useCallback((jobId) => latest.current(jobId), [])
}
