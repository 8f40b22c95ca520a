// The part of a log that is on screen at one moment.
import type { Follow } from './follow.ts'
import type { Layout } from './layout.ts'
import { mostTop, type ScrollState } from './scroll.ts'

const overscan = 30

export interface Frame {
  rows: readonly number[]
  topRow: number
  /** The group whose header sticks to the top; -1 for none. */
  stickyGroup: number
  isAtEnd: boolean
  follow: Follow
  layout: Layout
}

export const isAtEnd = (scroll: ScrollState): boolean => scroll.top >= mostTop(scroll) - 2

export function drawFrame(layout: Layout, scroll: ScrollState, follow: Follow): Frame {
  const { heights, folding } = layout
  const { top, view } = scroll
  const first = Math.max(0, heights.at(top) - overscan)
  const last = Math.min(heights.rows - 1, heights.at(top + view) + overscan)
  const rows = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => folding.rowAt(first + at))
  const topRow = heights.rows === 0 ? 0 : layout.rowAt(top)
  const group = folding.groupOf(topRow)
  const header = folding.groups[group]
  const isSticky = header !== undefined && folding.isOpen(group) && layout.top(header.row) < top
  return { rows, topRow, stickyGroup: isSticky ? group : -1, isAtEnd: isAtEnd(scroll), follow, layout }
}
