import { describe, expect, it } from 'vitest'
import { Heights, rowHeight } from './wrap.ts'

describe('Heights', () => {
  it('counts one line where nothing is known', () => {
    const heights = new Heights(3_000_000)
    expect(heights.height).toBe(60_000_000)
    expect(heights.top(2_999_999)).toBe(59_999_980)
    expect(heights.at(59_999_999)).toBe(2_999_999)
  })

  it('finds every row at every line of it', () => {
    const lines = [1, 3, 1, 1, 4, 2, 1]
    const heights = new Heights(
      lines.length,
      lines.flatMap((count, position) => (count > 1 ? [[position, count] as const] : [])),
    )
    let line = 0
    lines.forEach((count, position) => {
      expect(heights.top(position)).toBe(line * rowHeight)
      for (let at = 0; at < count; at++) expect(heights.at((line + at) * rowHeight + 7)).toBe(position)
      line += count
    })
    expect(heights.height).toBe(line * rowHeight)
    expect(heights.at(1_000_000)).toBe(lines.length - 1)
  })
})
