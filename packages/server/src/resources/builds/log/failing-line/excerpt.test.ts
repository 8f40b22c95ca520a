import { describe, expect, it } from 'vitest'
import { chooseRows, rowsAround } from './excerpt.ts'

const group = (row: number, name: string) => ({ kind: '---', name, row, time: null })

describe('chooseRows', () => {
  it('takes the whole group of the failing row, without its header', () => {
    const groups = [group(1, 'Set up'), group(10, 'Tests'), group(30, 'Clean up')]
    expect(chooseRows({ groups, failingRow: 20, first: 1, total: 40 }, 50)).toEqual({
      group: 'Tests',
      failingRow: 20,
      ranges: [[11, 29]],
      leftOut: 0,
    })
  })

  it('takes the rows around the failing one and the end of a long group', () => {
    const groups = [group(1, 'Tests')]
    expect(chooseRows({ groups, failingRow: 500, first: 1, total: 2000 }, 50)).toEqual({
      group: 'Tests',
      failingRow: 500,
      ranges: [
        [491, 520],
        [1981, 2000],
      ],
      leftOut: 1949,
    })
  })

  it('takes one range where the failing row is near the end', () => {
    const { ranges, leftOut } = chooseRows({ groups: [], failingRow: 990, first: 1, total: 1000 }, 50)
    expect(ranges).toEqual([[951, 1000]])
    expect(leftOut).toBe(950)
  })

  it('takes the last rows if the failing one is unknown, was not read, or its group is empty', () => {
    expect(chooseRows({ groups: [], failingRow: null, first: 1, total: 200 }, 10).ranges).toEqual([
      [191, 200],
    ])
    expect(chooseRows({ groups: [], failingRow: 5, first: 100, total: 200 }, 10)).toMatchObject({
      failingRow: null,
      ranges: [[191, 200]],
    })
    const groups = [group(1, 'Set up'), group(9, 'Tests')]
    expect(chooseRows({ groups, failingRow: 9, first: 1, total: 9 }, 5).ranges).toEqual([[5, 9]])
    expect(chooseRows({ groups: [], failingRow: null, first: 1, total: 0 }, 5).ranges).toEqual([])
  })

  it('never takes more rows than asked for, nor any twice, whatever the numbers are', () => {
    for (let total = 0; total < 120; total += 7) {
      for (let failing = 0; failing <= total + 3; failing += 5) {
        for (const most of [1, 2, 5, 50]) {
          const groups = total > 20 ? [group(3, 'a'), group(19, 'b')] : []
          const { ranges } = chooseRows({ groups, failingRow: failing, first: 1, total }, most)
          const rows = ranges.flatMap(([from, to]) =>
            Array.from({ length: to - from + 1 }, (_, i) => from + i),
          )
          expect(rows.length).toBeLessThanOrEqual(most)
          expect(new Set(rows).size).toBe(rows.length)
          expect(rows.every((row) => row >= 1 && row <= total)).toBe(true)
          const isShown = rows.includes(failing) || most < 5 || failing <= 20 || failing > total
          expect(isShown).toBe(true)
        }
      }
    }
  })
})

describe('rowsAround', () => {
  it('stays in the section of the failing row, and has as many rows as there are', () => {
    const groups = [
      group(1, 'Set up'),
      group(10, 'Tests'),
      group(12, 'FAIL: TestTotal (0.00s)'),
      group(60, 'End'),
    ]
    expect(rowsAround({ groups, failingRow: 12, first: 1, total: 80 }, 20)).toEqual({ from: 11, to: 30 })
    expect(rowsAround({ groups, failingRow: 58, first: 1, total: 80 }, 20)).toEqual({ from: 40, to: 59 })
    expect(rowsAround({ groups, failingRow: 5, first: 1, total: 80 }, 20)).toEqual({ from: 2, to: 9 })
    expect(rowsAround({ groups, failingRow: 60, first: 1, total: 60 }, 20)).toEqual({ from: 41, to: 60 })
    expect(rowsAround({ groups: [], failingRow: 1, first: 1, total: 1 }, 20)).toEqual({ from: 1, to: 1 })
  })
})
