import { describe, expect, it } from 'vitest'
import { cutText, plainText, presentRows } from './excerpt.ts'

describe('plainText', () => {
  it('removes what a terminal would obey and a person would not see', () => {
    expect(plainText('a\u001b[31mb\u009b2Jc\u0000d\r')).toBe('abcd')
    expect(plainText('safe\u202Eexe.\u2066x\u2069')).toBe('safeexe.x')
    expect(plainText(`hi${String.fromCodePoint(0xe0041, 0xe0042)}`)).toBe('hi')
    expect(plainText('half \ud83d')).toBe('half ')
    expect(plainText('tab\tline\nكتاب 👩‍💻 é')).toBe('tab\tline\nكتاب 👩‍💻 é')
  })
})

describe('cutText', () => {
  it('keeps a text that fits, and never cuts a character in half', () => {
    expect(cutText('abc', 3)).toBe('abc')
    expect(cutText('abcd', 3)).toBe('ab…')
    expect(cutText('a👩👩', 3)).toBe('a…')
  })
})

describe('presentRows', () => {
  it('leaves out marks of agents and empty rows at both ends, and counts what it cuts', () => {
    const rows = ['', 'first', '', 'x'.repeat(600), '^^^ +++', ''].map((text, index) => ({
      row: index + 1,
      text,
    }))
    const shown = presentRows(rows)
    expect(shown.cutTexts).toBe(1)
    expect(shown.rows.map(({ row }) => row)).toEqual([2, 3, 4])
    expect(shown.rows[2]?.text).toHaveLength(500)
  })
})
