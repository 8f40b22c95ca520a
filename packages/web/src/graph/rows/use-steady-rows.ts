import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { JobTable } from '../jobs/job-table.ts'
import type { Job } from '../jobs/job.ts'
import { holdRows, isSameOrder, type Row } from './steady-rows.ts'
import type { RowWindow } from './use-row-window.ts'

interface SteadyRows<T> {
  rows: readonly T[]
  /** The list would be in another order if nobody pointed at it. */
  isHeld: boolean
  release: () => void
  /** For the element around the rows. */
  handlers: {
    onPointerMove: () => void
    onPointerLeave: () => void
    onFocus: (event: { target: EventTarget }) => void
    onBlur: () => void
  }
}

/**
 * Holds the order while the pointer or the keyboard is in the list. `request` changes when the reader asks for another
 * order, which is never held.
 */
export function useSteadyRows<T extends Row>(
  now: readonly T[],
  request: string,
  refresh: (row: T) => T,
): SteadyRows<T> {
  const [held, setHeld] = useState<{ request: string; rows: readonly T[] } | null>(null)
  const isHolding = held !== null && held.request === request
  const rows = useMemo(
    () => (held !== null && held.request === request ? holdRows(held.rows, now, refresh) : now),
    [held, request, now, refresh],
  )
  const hold = () => {
    if (!isHolding) setHeld({ request, rows })
  }
  return {
    rows,
    isHeld: rows !== now && !isSameOrder(rows, now),
    release: () => setHeld({ request, rows: now }),
    handlers: {
      onPointerMove: hold,
      onPointerLeave: () => setHeld(null),
      onFocus({ target }) {
        if (target instanceof Element && target.matches(':focus-visible')) hold()
      },
      onBlur: () => setHeld(null),
    },
  }
}

/** When rows above the selected one come or go, the list scrolls by as much, so that it stays where it is. */
export function useSteadySelection(rows: readonly Row[], selected: string | null, window: RowWindow): void {
  const at = useMemo(
    () => (selected === null ? -1 : rows.findIndex(({ key }) => key === selected)),
    [rows, selected],
  )
  const before = useRef({ selected, at })
  const { scroller, rowHeight } = window
  useLayoutEffect(() => {
    const last = before.current
    before.current = { selected, at }
    if (scroller === null || last.selected !== selected || last.at === -1 || at === -1) return
    const height = rowHeight()
    const isInView =
      last.at * height >= scroller.scrollTop - height &&
      last.at * height <= scroller.scrollTop + scroller.clientHeight
    if (isInView && at !== last.at) scroller.scrollBy({ top: (at - last.at) * height })
  })
}

interface JobRow extends Row {
  job: Job
}

/** Attempts of a job share a row. */
export const toJobRow = (job: Job): JobRow => ({ key: job.placeId, job })

/** For rows that left a list. */
export function useNewestJob(table: JobTable): (row: JobRow) => JobRow {
  return useCallback((row) => ({ ...row, job: table.newestOf(row.key) ?? row.job }), [table])
}
