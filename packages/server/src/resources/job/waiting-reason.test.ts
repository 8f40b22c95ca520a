import { describe, expect, it } from 'vitest'
import { listed } from './waiting-reason.ts'

describe('a list of names in a sentence', () => {
  it('names five at most', () => {
    expect(listed([])).toBe('')
    expect(listed(['a'])).toBe('a')
    expect(listed(['a', 'b'])).toBe('a and b')
    expect(listed(['a', 'b', 'c', 'd', 'e'])).toBe('a, b, c, d and e')
    expect(listed(['a', 'b', 'c', 'd', 'e', 'f'])).toBe('a, b, c, d and 2 others')
  })
})
