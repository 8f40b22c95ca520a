import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '../../../../../../../testbed/src/any-character.ts'
import { ReferenceScreen } from '../../../../../test/reference-screen.ts'
import { rowHtml } from '../serve/html.ts'
import { Replay, type ReplayState } from '../rows/replay.ts'
import type { Row } from './row.ts'
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

/** Output with every feature of the screen, of which some is cut or wrong. */
const output = fc.array(
  fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 20 }),
    fc.constantFrom('\n', '\r\n', '\r', '\b', '\t', '\x07', '\x1b', '\x1b(B', '\x1b[', '\x1b]0;x', '\x1b\\'),
    fc
      .tuple(fc.integer({ min: 0, max: 120 }), fc.constantFrom(...'ABCDEFGJKsu'.split('')))
      .map(([number, command]) => `\x1b[${number === 0 ? '' : number}${command}`),
    fc
      .array(
        fc.constantFrom('0', '1', '2', '3', '4', '7', '9', '22', '31', '42', '97', '39', '38;5;200', ''),
        {
          maxLength: 3,
        },
      )
      .map((codes) => `\x1b[${codes.join(';')}m`),
    fc.integer({ min: 1, max: 130 }).map((count) => 'line\n'.repeat(count)),
    fc.integer({ min: 4090, max: 9000 }).map((count) => 'é'.repeat(count)),
    fc.integer({ min: 0, max: 1e12 }).map((time) => `\x1b_bk;t=${time}\x07`),
  ),
  { maxLength: 80 },
)

function rowsOf(pieces: readonly string[]): Row[] {
  const rows: Row[] = []
  const screen = new Screen((row) => rows.push(row))
  for (const piece of pieces) screen.write(piece)
  screen.end()
  return rows
}

const withoutTimes = (rows: readonly Row[]) =>
  rows.map(({ runs }) => runs.map(({ text, style }) => ({ text, style })))

describe('rows', () => {
  it('are those of a screen of cells', () => {
    fc.assert(
      fc.property(output, (pieces) => {
        const reference = new ReferenceScreen()
        for (const piece of pieces) reference.write(piece)
        reference.end()
        expect(withoutTimes(rowsOf(pieces))).toEqual(reference.rows)
      }),
    )
  })

  it('are the lines of the HTML', () => {
    fc.assert(
      fc.property(output, (pieces) => {
        const lines = seen(render(...pieces)).split('\n')
        expect(rowsOf(pieces).map(({ runs }) => runs.map(({ text }) => text).join(''))).toEqual(
          lines.slice(0, -1),
        )
      }),
    )
  })

  it('are the same wherever the log is cut and replayed from a state, also within characters', () => {
    fc.assert(
      fc.property(output, fc.array(fc.nat(), { maxLength: 5 }), (pieces, places) => {
        const bytes = Buffer.concat([Buffer.from(pieces.join('')), Buffer.from([0xe2, 0x82])])
        const cuts = places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b)
        const rows: Row[] = []
        let state: ReplayState | null = null
        for (const cut of [...cuts, bytes.length]) {
          const replay: Replay = new Replay(state, (row) => rows.push(row))
          const isLast = cut === bytes.length
          replay.write(bytes.subarray(state?.offset ?? 0, cut), isLast)
          if (isLast) replay.end()
          else ({ state } = replay)
          if (isLast) break
        }
        expect(rows).toEqual(rowsOf([bytes.toString()]))
      }),
    )
  })

  it('have the first time of their line', () => {
    const [first, second, third] = rowsOf(['\x1b_bk;t=5\x07a\x1b_bk;t=6\x07b\n', 'c\n\x1b_bk;t=7\x1b\\d'])
    expect([first?.time, second?.time, third?.time]).toEqual([5, null, 7])
  })

  it('have links to web addresses only, which end by themselves', () => {
    const linked = (target: string, text: string) => `\x1b]8;;${target}\x07${text}`
    const links = rowsOf([
      linked('https://a.example/x', 'a'),
      linked('javascript:alert(1)', 'b'),
      linked('http://b.example/\u202e', 'c'),
      linked(`https://c.example/${'x'.repeat(3000)}`, 'd'),
      linked('HTTP://d.example', 'e'),
      '\n'.repeat(10),
      'f',
    ]).flatMap(({ runs }) => runs.map(({ text, link }) => [text, link]))
    expect(links).toEqual([
      ['a', 'https://a.example/x'],
      ['bcd', ''],
      ['e', 'HTTP://d.example'],
      ['f', ''],
    ])
  })
})
