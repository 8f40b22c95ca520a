import { describe, expect, it } from 'vitest'
import { formatBytes } from './sizes.ts'

describe('formatBytes', () => {
  it('has three digits at most, in the unit that fits', () => {
    const cases: Array<[number, string]> = [
      [0, '0 bytes'],
      [999, '999 bytes'],
      [1400, '1.4 kB'],
      [123_456_789, '123 MB'],
      [5_000_000_000_000_000, '5000 TB'],
    ]
    for (const [bytes, text] of cases) expect(formatBytes(bytes)).toBe(text)
  })
})
