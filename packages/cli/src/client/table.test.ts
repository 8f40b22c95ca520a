import { describe, expect, it } from 'vitest'
import { openStyle } from './style.ts'
import { renderTable, type Column } from './table.ts'
import { oneLine, printable, shortened, widthOf } from './text.ts'

const plain = openStyle({ color: false })

describe('text of a server', () => {
  it('has no character that a terminal acts on', () => {
    const evil = 'a\u001b]0;title\u0007b\u009b31mc\u0000\rd\u202ee\u2066\u007f'
    expect(printable(evil)).toBe(String.raw`a␛]0;title␇b\u{9b}31mc␀␍d\u{202e}e\u{2066}␡`)
    const codes = Array.from({ length: 0x3000 }, (_, code) => code)
    const all = codes.map((code) => printable(String.fromCodePoint(code))).join('')
    expect(all).not.toMatch(/[^\P{Cc}\t\n]|\p{Bidi_Control}/u)
  })

  it('keeps lines and tabs, or becomes one line', () => {
    expect(printable('a\r\nb\tc')).toBe('a\nb\tc')
    expect(oneLine('  a\r\nb\t c\n')).toBe('a b c')
  })

  it('is measured in columns of a terminal', () => {
    expect(['abc', 'é', '日本', '🎉', '👩‍👩‍👧', 'e\u0301', '✔️', ''].map(widthOf)).toEqual([
      3, 1, 4, 2, 2, 1, 2, 0,
    ])
    expect(shortened('日本語', 5)).toBe('日本…')
    expect(shortened('日本語', 4)).toBe('日…')
    expect(shortened('abc', 3)).toBe('abc')
  })
})

interface Row {
  name: string
  count: number
}

const columns: ReadonlyArray<Column<Row>> = [
  { title: 'Name', text: ({ name }) => name, least: 4 },
  { title: 'State', styled: () => plain.paint('green', '✓ passed') },
  { title: 'Count', text: ({ count }) => count, align: 'right' },
]
const rows = [
  { name: 'a rather long name\u001b[2J', count: 7 },
  { name: '日本', count: 1234 },
]

describe('a table', () => {
  it('is as wide as its text in a pipe', () => {
    expect(renderTable(columns, rows, { style: plain, width: Infinity }).split('\n')).toEqual([
      'NAME                    STATE     COUNT',
      'a rather long name␛[2J  ✓ passed      7',
      '日本                    ✓ passed   1234',
    ])
  })

  it('fits the terminal, at the cost of the columns that may shrink', () => {
    expect(renderTable(columns, rows, { style: plain, width: 28 }).split('\n')).toEqual([
      'NAME         STATE     COUNT',
      'a rather l…  ✓ passed      7',
      '日本         ✓ passed   1234',
    ])
    expect(renderTable(columns, rows, { style: plain, width: 5 })).toContain('\na r…  ✓ passed')
  })
})

describe('colors', () => {
  const has = (env: Record<string, string>, isTTY: boolean, color = true) =>
    openStyle({ color }, { isTTY }, env).hasColor

  it('are for terminals, unless the environment or the user decides', () => {
    expect(has({}, true)).toBe(true)
    expect(has({}, false)).toBe(false)
    expect(has({ NO_COLOR: '1' }, true)).toBe(false)
    expect(has({ NO_COLOR: '' }, true)).toBe(true)
    expect(has({ TERM: 'dumb' }, true)).toBe(false)
    expect(has({ FORCE_COLOR: '1' }, false)).toBe(true)
    expect(has({ FORCE_COLOR: '1' }, true, false)).toBe(false)
    expect(openStyle({ color: true }, { isTTY: true }, {}).paint('red', 'x')).toBe('\u001b[31mx\u001b[39m')
  })
})
