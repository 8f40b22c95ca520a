import { describe, expect, it } from 'vitest'
import { cellsOf, linesOf } from '../model/cells.ts'
import { piecesOf } from './pieces.ts'
import { groupStartOf, readRow } from '../model/rows.ts'

describe('readRow', () => {
  it('joins the runs of a row', () => {
    const row = readRow([1000, 'ok ', ['red', 'fg1 bold'], '!'])
    expect(row.text).toBe('ok red!')
    expect(row.time).toBe(1000)
    expect(row.runs[1]).toEqual({ text: 'red', style: 'fg1 bold', link: null, host: '' })
  })

  it('keeps links to the web alone', () => {
    const links = [
      'https://example.com/a',
      'javascript:alert(1)',
      'data:text/html,x',
      'http:///x',
      'file:///etc',
    ]
    const row = readRow([null, ...links.map((link) => ['text', '', link] as const)])
    expect(row.runs.map(({ link }) => link)).toEqual(['https://example.com/a', null, null, null, null])
  })

  it('shows the host of a link whose text does not name it, once', () => {
    const row = readRow([
      null,
      ['https://good.example', '', 'https://evil.example/x'],
      ['two', 'bold', 'https://a.example'],
      ['styles', '', 'https://a.example'],
      ['b.example', '', 'https://b.example/y'],
    ])
    expect(row.shown).toBe('https://good.example [evil.example]twostyles [a.example]b.example')
    expect(row.text).toBe('https://good.exampletwostylesb.example')
  })
})

describe('groupStartOf', () => {
  it.each([
    ['--- Set up', { kind: '---', name: 'Set up' }],
    ['+++ Tests ', { kind: '+++', name: 'Tests' }],
    ['~~~ Quiet', { kind: '~~~', name: 'Quiet' }],
    ['---', null],
    ['----- line', null],
    [' --- indented', null],
  ])('reads %j', (text, group) => expect(groupStartOf(text)).toEqual(group))
})

describe('cells', () => {
  it('counts wide, combining and reordering characters', () => {
    expect(cellsOf('abc')).toBe(3)
    expect(cellsOf('日本')).toBe(4)
    expect(cellsOf('e\u0301')).toBe(1)
    expect(cellsOf('✅ ok')).toBe(5)
    expect(cellsOf('a\u202eb')).toBe(10)
  })

  it('wraps a wide character that does not fit', () => {
    expect(linesOf('', 10)).toBe(1)
    expect(linesOf('x'.repeat(20), 10)).toBe(2)
    expect(linesOf('x'.repeat(21), 10)).toBe(3)
    expect(linesOf(`${'x'.repeat(9)}日`, 10)).toBe(2)
    expect(linesOf('日'.repeat(5), 5)).toBe(3)
  })
})

describe('piecesOf', () => {
  const pieces = (row: Parameters<typeof readRow>[0], hits: Parameters<typeof piecesOf>[1] = []) =>
    piecesOf(readRow(row), hits)

  it('makes addresses in the text links, without the punctuation behind them', () => {
    const found = pieces([null, 'see (https://a.example/b_(c)). Or https://d.example, maybe'])
    expect(found.filter(({ link }) => link !== null).map(({ text }) => text)).toEqual([
      'https://a.example/b_(c)',
      'https://d.example',
    ])
    expect(found.map(({ text }) => text).join('')).toBe(
      'see (https://a.example/b_(c)). Or https://d.example, maybe',
    )
  })

  it('makes characters that reorder text visible', () => {
    const found = pieces([null, 'if admin \u202e// yes\u2066'])
    expect(found.map(({ text, kind }) => [text, kind])).toEqual([
      ['if admin ', 'text'],
      ['U+202E', 'chip'],
      ['// yes', 'text'],
      ['U+2066', 'chip'],
    ])
  })

  it('marks hits across runs', () => {
    const hits = [
      { start: 1, end: 4, isCurrent: true },
      { start: 5, end: 6, isCurrent: false },
    ]
    expect(pieces([null, 'ab', ['cdef', 'fg2']], hits).map(({ text, hit }) => [text, hit])).toEqual([
      ['a', 'no'],
      ['b', 'current'],
      ['cd', 'current'],
      ['e', 'no'],
      ['f', 'yes'],
    ])
  })
})
