import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '../../../../../testbed/src/any-character.ts'
import { rowHtml } from './html.ts'
import { Screen } from './screen.ts'

function render(...pieces: string[]): string {
  const html: string[] = []
  const screen = new Screen((row) => html.push(rowHtml(row, html.length + 1)))
  for (const piece of pieces) screen.write(piece)
  screen.end()
  return html.join('')
}

/** The visible text, without markup. */
const seen = (html: string) =>
  html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')

const look = (...pieces: string[]) => seen(render(...pieces))

describe('what a terminal shows', () => {
  it.each([
    ['a carriage return starts the line anew', '10%\r20%\r100%\n', '100%\n'],
    ['a shorter line leaves the end of the longer', 'abcdef\rxy\n', 'xycdef\n'],
    ['CR LF is one new line', 'a\r\nb\r\n', 'a\nb\n'],
    ['erase to the end of the line', 'abcdef\r\x1b[Kxy\n', 'xy\n'],
    ['erase to the start of the line', 'abcdef\x1b[3D\x1b[1Kx\n', '   xef\n'],
    ['erase the whole line', 'abcdef\x1b[2Kx\n', '      x\n'],
    ['up, and the line anew', 'one\ntwo\n\x1b[2A\x1b[2KONE\n\n', 'ONE\ntwo\n'],
    ['up beyond the top stays at the top', 'one\n\x1b[99Ax\n', 'xne\n'],
    ['down stays among the lines there are', 'one\ntwo\x1b[1A\x1b[9B!\n', 'one\ntwo!\n'],
    ['left, right and column', 'abc\x1b[2Dx\x1b[1Cz\x1b[1Gy\n', 'yxcz\n'],
    ['next and previous line', 'a\nb\x1b[1Fx\x1b[1Ey\n', 'x\ny\n'],
    ['save and restore', 'a\x1b[sbc\x1b[ux\n', 'axc\n'],
    ['erase below', 'a\nb\nc\x1b[2A\r\x1b[Jx\n', 'x\n'],
    ['clearing the screen keeps what people want to read', 'a\n\x1b[2J\x1b[Hb\n', 'a\nb\n'],
    ['backspace', 'abc\b\bx\n', 'axc\n'],
    ['tabs go to every eighth column', 'a\tb\n', 'a       b\n'],
    ['times are not shown', '\x1b_bk;t=1700000000000\x07x\x1b_bk;t=1700000000001\x1b\\y\n', 'xy\n'],
    [
      'titles, links and unknown sequences are not shown',
      '\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\x1b(B\x1b=c\x1b[?25l\n',
      'abc\n',
    ],
    ['bells and other control characters are not shown', 'a\x07b\x00c\x7fd\n', 'abcd\n'],
    ['characters outside the plane stay whole', '😀é\n', '😀é\n'],
    ['the last line needs no end', 'a\nb', 'a\nb\n'],
  ])('%s', (_, written, shown) => {
    expect(look(written)).toBe(shown)
  })

  it('colors text, and counts the lines', () => {
    expect(
      render('\x1b[1;31mred\x1b[0m plain\n\x1b[38;5;196ma\x1b[48;2;1;2;3mb\x1b[39;49;22mc\x1b[97md\n'),
    ).toBe(
      '<span id="L1"><span class="b" style="color:#cc0000">red</span> plain</span>\n' +
        '<span id="L2"><span style="color:#ff0000">a</span><span style="color:#ff0000;background:#010203">b</span>c' +
        '<span style="color:#eeeeec">d</span></span>\n',
    )
  })

  it('shows the same wherever the output was cut', () => {
    const output = 'one\r\n\x1b[31mtw\x1b[0mo\x1b_bk;t=17\x07😀\n\x1b[1A\x1b[2Kx\x1b]0;t\x1b\\y\n'
    const whole = render(output)
    const characters = Array.from(output)
    for (const at of characters.keys()) {
      expect(render(characters.slice(0, at).join(''), characters.slice(at).join(''))).toBe(whole)
    }
  })

  it('wraps very long lines in constant memory', () => {
    const lines = look('x'.repeat(10_000), '\x1b[99999999999C', 'y\n').split('\n')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(4096)
  })
})

describe('hostile output (abuse case 11)', () => {
  it.each([
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    '<\x1b[31mscript>alert(1)</script>',
    '\x1b]8;;javascript:alert(1)\x07click\x1b]8;;\x07',
    '\x1b[38;2;1;2;"onload=alert(1)"m<svg>',
    '\x1b_bk;t=1"><script>alert(1)</script>\x07',
    '&lt;script&gt;',
    '\x1b]1338;url="><script>alert(1)</script>\x07',
  ])('%j brings no markup of its own', (text) => {
    expect(
      render(`${text}\n`).replace(/<\/?span( id="L\d+"| class="[a-z ]+"| style="[a-z0-9:;#]+")*>/g, ''),
    ).not.toMatch(/[<>"']/)
  })

  it('random output brings no markup', () => {
    const scraps = fc.constantFrom(
      '\x1b[',
      '\x1b]',
      '\x1b_',
      '\x07',
      '\x1b\\',
      'm',
      'A',
      'K',
      ';',
      '3',
      '8',
      '<',
      '"',
      '\n',
      '\r',
      '&',
    )
    fc.assert(
      fc.property(
        fc.array(fc.oneof(scraps, fc.string({ unit: anyCharacter })), { maxLength: 60 }),
        (parts) => {
          const html = render(...parts)
          expect(
            html.replace(/<\/?span( id="L\d+"| class="[a-z ]+"| style="[a-z0-9:;#]+")*>/g, ''),
          ).not.toMatch(/[<>"']/)
        },
      ),
    )
  })
})
