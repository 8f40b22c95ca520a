import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { JobTable } from '../jobs/job-table.ts'
import type { Job } from '../jobs/job.ts'
import { keepOrder, isSameOrder, type Row } from './frozen-order.ts'
import type { RowWindow } from './use-row-window.ts'

interface FrozenRows<T> {
  rows: readonly T[]
  /** The list would be in another order if nobody pointed at it. */
  isOutdated: boolean
  update: () => void
  /** For the element around the rows. */
  handlers: {
    onPointerMove: () => void
    onPointerLeave: () => void
    onFocus: (event: { target: EventTarget }) => void
    onBlur: () => void
  }
}

/**
 * Freezes the order while the pointer or the keyboard is in the list. `request` changes when the reader asks for another
 * order, which is never frozen.
 */
export function useFrozenRows<T extends Row>(
  now: readonly T[],
  request: string,
  refresh: (row: T) => T,
): FrozenRows<T> {
  const [frozen, setFrozen] = useState<{ request: string; rows: readonly T[] } | null>(null)
  const isFrozen = frozen !== null && frozen.request === request
  const rows = useMemo(
    () => (frozen !== null && frozen.request === request ? keepOrder(frozen.rows, now, refresh) : now),
    [frozen, request, now, refresh],
  )
  const freeze = () => {
    if (!isFrozen) setFrozen({ request, rows })
  }
  return {
    rows,
    isOutdated: rows !== now && !isSameOrder(rows, now),
    update: () => setFrozen({ request, rows: now }),
    handlers: {
      onPointerMove: freeze,
      onPointerLeave: () => setFrozen(null),
      onFocus({ target }) {
        if (target instanceof Element && target.matches(':focus-visible')) freeze()
      },
      onBlur: () => setFrozen(null),
    },
  }
}

/** When rows above the selected one come or go, the list scrolls by as much, so that it stays where it is. */
export function useSelectionInPlace(rows: readonly Row[], selected: string | null, window: RowWindow): void {
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

export interface JobRow extends Row {
  job: Job
}

/** Attempts of a job share a row. */
export const toJobRow = (job: Job): JobRow => ({ key: job.firstAttemptId, job })

/** For rows that left a list. */
export function useNewestJob(table: JobTable): (row: JobRow) => JobRow {
  return useCallback((row) => ({ ...row, job: table.newestOf(row.key) ?? row.job }), [table])
}
