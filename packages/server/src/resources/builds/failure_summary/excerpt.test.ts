import { describe, expect, it } from 'vitest'
import { cutText, plainText } from '../log/screen/plain-text.ts'
import { presentRows } from './excerpt.ts'

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

const rowOf = (row: number, runs: Array<[text: string, style: string]>) => ({
  row,
  content: { time: null, runs: runs.map(([text, style]) => ({ text, style, link: '' })) },
})

describe('presentRows', () => {
  it('leaves out marks of agents and empty rows at both ends, and counts what it cuts', () => {
    const texts = ['', 'first', '', 'x'.repeat(600), '^^^ +++', '']
    const shown = presentRows(texts.map((text, index) => rowOf(index + 1, [[text, '']])))
    expect(shown.cutTexts).toBe(1)
    expect(shown.rows.map(({ row }) => row)).toEqual([2, 3, 4])
    expect(shown.rows[2]?.text).toHaveLength(500)
  })

  it('keeps styles, and shows the same text in them', () => {
    const [row, long] = presentRows([
      rowOf(1, [
        ['E  ', 'fg1 bold'],
        [' a\u0000\u202eb', ''],
        ['  ', 'bg1'],
      ]),
      rowOf(2, [
        ['x'.repeat(400), 'fg1'],
        ['y'.repeat(400), 'fg2'],
        ['z', 'fg3'],
      ]),
    ]).rows
    expect(row).toEqual({ row: 1, text: 'E   ab', runs: [['E  ', 'fg1 bold'], ' ab'] })
    expect(long?.runs).toEqual([
      ['x'.repeat(400), 'fg1'],
      [`${'y'.repeat(99)}…`, 'fg2'],
    ])
  })
})
