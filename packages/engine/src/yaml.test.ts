import { describe, expect, it } from 'vitest'
import { plainValue } from './source.ts'
import { parseSource } from './yaml.ts'

const MAX = 1024 * 1024

function parse(text: string): unknown[] {
  const parsed = parseSource(text, MAX)
  if (!parsed.ok) throw new Error(parsed.problem.message)
  return parsed.documents.map(plainValue)
}

function refusal(text: string, maxBytes = MAX): string {
  const parsed = parseSource(text, maxBytes)
  return parsed.ok ? 'accepted' : `${parsed.problem.line}:${parsed.problem.column} ${parsed.problem.message}`
}

describe('parseSource', () => {
  it('takes only true and false as booleans', () => {
    expect(parse('[yes, no, on, off, y, true, false]')).toEqual([
      ['yes', 'no', 'on', 'off', 'y', true, false],
    ])
  })

  it('keeps YAML 1.2 scalars under a YAML 1.1 directive', () => {
    expect(parse('%YAML 1.1\n---\n[yes, 010]')).toEqual([['yes', 10]])
  })

  it('turns map keys into strings', () => {
    expect(parse('{1: a, true: b, ~: c, 3.10: d}')).toEqual([{ '1': 'a', true: 'b', '~': 'c', '3.10': 'd' }])
  })

  it('keeps the digits of a number that would lose them', () => {
    expect(parse('[3.10, 1.5, 12345678901234567890, 0x10]')).toEqual([
      ['3.10', 1.5, '12345678901234567890', 16],
    ])
  })

  it('reads JSON with tabs and escaped surrogate pairs', () => {
    expect(parse('{\n\t"a": [1, null, "\\ud83d\\ude00", "x\\/y"]\n}')).toEqual([
      { a: [1, null, '😀', 'x/y'] },
    ])
  })

  it('reads several documents in order and drops the empty ones', () => {
    expect(parse('---\na\n---\n---\nb\n...\n---\n')).toEqual(['a', 'b'])
    expect(parse('')).toEqual([null])
    expect(parse('# nothing\n')).toEqual([null])
  })

  it('lets outer keys beat merged ones, and earlier merged maps beat later ones', () => {
    const text = 'a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {<<: [*a, *b], z: 3}\nd: {<<: *b, <<: *a}'
    expect(parse(text)[0]).toMatchObject({ c: { x: 1, y: 1, z: 3 }, d: { x: 1, y: 2, z: 2 } })
  })

  it('takes a quoted << as an ordinary key', () => {
    expect(parse('{"<<": 1}')).toEqual([{ '<<': 1 }])
  })

  it('gives an alias the anchor that stands last before it', () => {
    expect(parse('[&a 1, *a, &a 2, *a]')).toEqual([[1, 1, 2, 2]])
  })

  it('gives every value its line and column', () => {
    const parsed = parseSource('a:\n  - b\n  - {c: d}\n', MAX)
    expect(parsed).toMatchObject({
      documents: [
        {
          entries: [
            {
              line: 1,
              column: 1,
              value: { items: [{ line: 2, column: 5 }, { entries: [{ value: { line: 3, column: 9 } }] }] },
            },
          ],
        },
      ],
    })
  })

  it.each([
    ['a: [1, 2', '1:9 the YAML does not parse'],
    ['a: [b: {c: "\\q"}]', '1:13 the YAML does not parse: invalid escape sequence'],
    ['a: 1\na: 2', '2:1 the key "a" appears twice'],
    ['? [a]\n: b', '1:3 a map key must be plain text'],
    ['a: *b', '1:4 the alias *b names no anchor'],
    ['a: &a [*a]', '1:8 the alias *a contains itself'],
    ['a: &a {b: &b {c: *a}}', '1:18 the alias *a contains itself'],
    ['<<: 3', '1:5 `<<` takes a map'],
    ['a: \0', '1:1 the text contains a NUL'],
    ['a: "\\0"', '1:4 the text contains a NUL'],
    ['a: \ud800', '1:1 the text contains a NUL character or half of a surrogate pair'],
    ['a: "\\ud800"', '1:4 the text contains a NUL character or half'],
  ])('refuses %j and says where', (text, message) => {
    expect(refusal(text)).toContain(message)
  })
})

describe('parseSource on hostile text', () => {
  const million = (piece: string) => piece.repeat(Math.floor(MAX / piece.length))

  it('refuses a file over the limit, counted in UTF-8 bytes', () => {
    expect(refusal('ä'.repeat(6), 12)).toBe('accepted')
    expect(refusal('ä'.repeat(6), 11)).toContain('larger than 11 bytes')
    expect(refusal('😀😀', 8)).toBe('accepted')
    expect(refusal('😀😀', 7)).toContain('larger than')
    expect(refusal('- ['.repeat(4_000_000), MAX)).toContain('larger than')
  })

  it('refuses an alias bomb', () => {
    const levels = Array.from({ length: 30 }, (_, n) => `a${n + 1}: &a${n + 1} [${`*a${n},`.repeat(10)}]`)
    expect(refusal(['a0: &a0 lol', ...levels].join('\n'))).toContain('grows too large')
  })

  it('refuses a bomb of long texts', () => {
    expect(refusal(`a: &a "${'x'.repeat(100_000)}"\nb: [${'*a,'.repeat(1000)}]`)).toContain('grows too large')
  })

  it('refuses a bomb of merge keys', () => {
    const map = `a: &a {${Array.from({ length: 500 }, (_, n) => `k${n}: 1`).join(', ')}}`
    expect(refusal(`${map}\nb: [${'{<<: *a},'.repeat(1000)}]`)).toContain('grows too large')
  })

  it.each([
    ['[', '[', '1:123 values are nested more than 60 levels deep'],
    ['dashes', '- ', '1:244 values are nested more than 60 levels deep'],
    ['keys on one line', 'a: ', '1:365 values are nested more than 60 levels deep'],
    ['open and closed brackets', '[]', '1:3 the YAML does not parse: unexpected flow-seq-start at node end'],
    ['list items', '- a\n', '30000:4 the file holds too many values'],
    ['anchors', '&a ', '1:225000 the file holds too many values'],
    ['quotes', '"', '1:299999 the file holds too many values'],
    ['documents', 'a\n---\n', '200:1 the file holds more than 100 documents'],
    ['comments', '#\n', '75001:1 the file holds too many values'],
    ['colons', ':\n', '75000:2 the file holds too many values'],
  ])('reads no more of a megabyte of %s than it needs to refuse it', (_, piece, reason) => {
    expect(refusal(million(piece))).toBe(reason)
  })

  it('refuses deep nesting in every style', () => {
    const block = Array.from({ length: 200 }, (_, n) => `${' '.repeat(n)}a:`).join('\n')
    expect(refusal(block)).toContain('nested more than')
    expect(refusal(`${'['.repeat(70)}${']'.repeat(70)}`)).toContain('nested more than')
    expect(refusal(`${'['.repeat(60)}${']'.repeat(60)}`)).toBe('accepted')
    expect(refusal(`${'- '.repeat(60)}a`)).toBe('accepted')
  })
})
