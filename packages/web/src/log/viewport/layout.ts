// Rows of a log as they are laid out: closed groups folded, long rows wrapped.
import { linesOf } from '../model/cells.ts'
import type { Folding } from '../model/groups.ts'
import type { LogModel } from '../model/model.ts'
import { Heights } from './wrap.ts'

export interface Layout {
  folding: Folding
  heights: Heights
  columns: number | null
  /** Of the model it was made from. */
  version: number
  /** Pixels above a row; above its group's header while that is closed. */
  top: (row: number) => number
  rowAt: (pixels: number) => number
  linesOf: (row: number) => number
}

export function layOut(model: LogModel, columns: number | null): Layout {
  const { folding } = model
  const lines = columns === null ? new Map<number, number>() : wrappedRows(model, columns)
  const wrapped = [...lines].map(([row, count]) => [folding.positionOf(row), count] as const)
  const heights = new Heights(folding.visible, wrapped)
  return {
    folding,
    heights,
    columns,
    version: model.version,
    top: (row) => heights.top(folding.positionOf(row)),
    rowAt: (pixels) => folding.rowAt(heights.at(pixels)),
    linesOf: (row) => lines.get(row) ?? 1,
  }
}

/** The lines of visible rows that take more than one. Headers of groups are never wrapped. */
function wrappedRows({ blocks, folding }: LogModel, columns: number): Map<number, number> {
  const lines = new Map<number, number>()
  for (const [number, { cells, shown }] of blocks.loaded()) {
    if (cells <= columns || folding.isHidden(number)) continue
    const isHeader = folding.groups[folding.groupOf(number)]?.row === number
    if (!isHeader) lines.set(number, linesOf(shown, columns))
  }
  return lines
}
