import { describe, expect, it } from 'vitest'
import { Folding, replaceGroups, type Group } from './groups.ts'

const group = (row: number, time: number | null = null): Group => ({
  kind: '---',
  name: `at ${row}`,
  row,
  time,
  durationMs: null,
})

describe('Folding', () => {
  it('maps positions and rows both ways, whatever is open', () => {
    const groups = [3, 4, 10, 15].map((row) => group(row))
    for (let open = 0; open < 16; open++) {
      const folding = new Folding(
        groups,
        20,
        ({ row }) => ((open >> groups.findIndex((g) => g.row === row)) & 1) === 1,
      )
      const visible = Array.from({ length: 20 }, (_, at) => at + 1).filter((row) => !folding.isHidden(row))
      expect(folding.visible).toBe(visible.length)
      expect(visible.map((_, position) => folding.rowAt(position))).toEqual(visible)
      expect(visible.map((row) => folding.positionOf(row))).toEqual(visible.map((_, position) => position))
    }
  })

  it('puts a hidden row at its header', () => {
    const folding = new Folding([group(1), group(1_000_000)], 3_000_000, ({ row }) => row === 1)
    expect(folding.visible).toBe(1_000_000)
    expect(folding.positionOf(2_500_000)).toBe(999_999)
    expect(folding.isHidden(2_500_000)).toBe(true)
    expect(folding.rowsIn(1)).toBe(2_000_000)
    expect(folding.groupOf(999_999)).toBe(0)
  })

  it('tells which closed groups hide a range that may begin on a header', () => {
    const folding = new Folding([group(3), group(10), group(20)], 30, ({ row }) => row === 10)
    expect(folding.headersHiding(3, 3)).toEqual([])
    expect(folding.headersHiding(3, 4)).toEqual([3])
    expect(folding.headersHiding(1, 25)).toEqual([3, 20])
    expect(folding.headersHiding(1, 2)).toEqual([])
    expect(folding.headersHiding(12, 15)).toEqual([])
  })

  it('shows the rows before the first group', () => {
    const folding = new Folding([group(5)], 10, () => false)
    expect(folding.visible).toBe(5)
    expect(folding.groupOf(4)).toBe(-1)
    expect(folding.rowAt(4)).toBe(5)
  })
})

describe('replaceGroups', () => {
  it('gives a group its duration when the next begins', () => {
    const [first, second] = replaceGroups([group(1, 1000)], 50, [group(60, 3500)])
    expect(first?.durationMs).toBe(2500)
    expect(second?.durationMs).toBeNull()
  })

  it('drops groups of rows that were replaced', () => {
    expect(replaceGroups([group(1), group(60)], 60, []).map(({ row }) => row)).toEqual([1])
  })
})
