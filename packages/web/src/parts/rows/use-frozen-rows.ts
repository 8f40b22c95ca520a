import { useMemo, useState } from 'react'
import { keepOrder, isSameOrder, type Row } from './frozen-order.ts'

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
