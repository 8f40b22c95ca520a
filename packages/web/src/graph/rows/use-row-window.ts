// Keeps only the rows in view in the document. All rows have one height, which the style sheet sets: the spacer is
// `--count` rows high, and a row stands at `--at` rows from its top.
import { useCallback, useEffect, useState, type CSSProperties } from 'react'

const beyond = 8

export interface RowWindow {
  /** The element that scrolls, and the one in it that holds the rows. */
  scroller: HTMLElement | null
  setScroller: (element: HTMLElement | null) => void
  setSpacer: (element: HTMLElement | null) => void
  first: number
  /** Exclusive. */
  last: number
  rowHeight: () => number
  /** Scrolls as little as needed. */
  reveal: (index: number) => void
}

export const countStyle = (count: number): CSSProperties => cssVariables({ '--count': count })
export const rowStyle = (at: number): CSSProperties => cssVariables({ '--at': at })
export const cssVariables = (values: Readonly<Record<`--${string}`, number | string>>): CSSProperties =>
  values

export function useRowWindow(count: number): RowWindow {
  const [scroller, setScroller] = useState<HTMLElement | null>(null)
  const [spacer, setSpacer] = useState<HTMLElement | null>(null)
  const [range, setRange] = useState({ first: 0, last: 40 })

  const rowHeight = useCallback(() => (spacer?.offsetHeight ?? 0) / Math.max(1, count) || 32, [spacer, count])

  const measure = useCallback(() => {
    if (scroller === null) return
    const height = rowHeight()
    const above = Math.max(0, scroller.scrollTop - (spacer?.offsetTop ?? 0))
    const first = Math.max(0, Math.floor(above / height) - beyond)
    const last = Math.ceil((above + scroller.clientHeight) / height) + beyond
    setRange((now) => (now.first === first && now.last === last ? now : { first, last }))
  }, [scroller, spacer, rowHeight])

  useEffect(() => {
    if (scroller === null) return
    // An observer also reports the size at the start.
    const observer = new ResizeObserver(measure)
    observer.observe(scroller)
    scroller.addEventListener('scroll', measure, { passive: true })
    return () => {
      observer.disconnect()
      scroller.removeEventListener('scroll', measure)
    }
  }, [scroller, measure])

  const reveal = useCallback(
    (index: number) => {
      if (scroller === null) return
      const height = rowHeight()
      const header = spacer?.offsetTop ?? 0
      const top = index * height
      const most = scroller.scrollTop + scroller.clientHeight - header - height
      if (top < scroller.scrollTop) scroller.scrollTo({ top })
      else if (top > most) scroller.scrollBy({ top: top - most })
    },
    [scroller, spacer, rowHeight],
  )
  const last = Math.min(count, range.last)
  return { scroller, setScroller, setSpacer, first: range.first, last, rowHeight, reveal }
}
