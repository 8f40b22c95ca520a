import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { removeEscapes, type Escapes } from './escapes.ts'

function remove(escapes: Escapes, ...pieces: string[]): string {
  const remover = removeEscapes(escapes)
  return pieces.map((piece) => remover.push(piece)).join('') + remover.end()
}

const time = '\x1b_bk;t=1700000000123\x07'

describe('removeEscapes', () => {
  it.each([
    [`${time}one\r\n${time}two`, 'one\r\ntwo', 'one\r\ntwo'],
    ['\x1b[1;31mred\x1b[0m', 'red', '\x1b[1;31mred\x1b[0m'],
    [
      '\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x07',
      'link',
      '\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x07',
    ],
    ['\x1b_a\x1b\\b\x1b_c\x07d', 'bd', 'bd'],
    ['\x1b(Bascii', 'ascii', '\x1b(Bascii'],
    ['\x1bMup', 'up', '\x1bMup'],
    ['a\x1b', 'a', 'a\x1b'],
    ['a\x1b[3', 'a3', 'a\x1b[3'],
    ['50% [ok] _x_', '50% [ok] _x_', '50% [ok] _x_'],
  ])('turns %j into %j, and into %j with colours', (text, plain, ansi) => {
    expect(remove('plain', text)).toBe(plain)
    expect(remove('ansi', text)).toBe(ansi)
  })

  it('keeps text after a sequence that never ends', () => {
    const rest = 'x'.repeat(10_000)
    expect(remove('plain', `\x1b_${rest}`)).toBe(rest)
    expect(remove('ansi', `\x1b_${rest}`, rest)).toBe(rest + rest)
  })

  it('gives the same result wherever the text is cut', () => {
    const part = fc.constantFrom(
      time,
      '\x1b[31m',
      '\x1b]8;;x\x1b\\',
      '\x1b',
      '_',
      '[',
      '\x07',
      '\\',
      'text',
      '\n',
    )
    const cuts = fc.array(fc.nat({ max: 40 }), { maxLength: 6 })
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 12 }),
        cuts,
        fc.constantFrom('plain', 'ansi'),
        (parts, places, form) => {
          const text = parts.join('')
          const ends = [...places, text.length].sort((a, b) => a - b)
          const pieces = ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end))
          expect(remove(form, ...pieces)).toBe(remove(form, text))
        },
      ),
    )
  })
})
