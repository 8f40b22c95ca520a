import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileRegex, createSearchBudget, matchWhole, searchRegex } from './regex.ts'

function search(source: string, text: string, ignoreCase = false): boolean | string {
  const compiled = compileRegex(source, { ignoreCase })
  if (!compiled.ok) return compiled.message
  const answer = searchRegex(compiled.regex, text, createSearchBudget())
  return answer.ok ? answer.matches : answer.message
}

function whole(source: string, text: string): boolean | string {
  const compiled = compileRegex(source, { ignoreCase: false })
  if (!compiled.ok) return compiled.message
  const answer = matchWhole(compiled.regex, text, createSearchBudget())
  return answer.ok ? answer.matches : answer.message
}

describe('searchRegex', () => {
  it.each([
    ['b', 'abc', true],
    ['^b', 'abc', false],
    ['c$', 'abc', true],
    ['^$', '', true],
    ['', 'x', true],
    ['^(a|b)*c$', 'ababc', true],
    ['^a{2,3}$', 'aaaa', false],
    ['^a{2,}$', 'aaaa', true],
    ['^a{0}$', '', true],
    ['^(?:ab)+?$', 'abab', true],
    ['^(a*)*$', 'aaa', true],
    ['^(|a)+$', 'aa', true],
    ['\\bcat\\b', 'a cat!', true],
    ['\\bcat\\b', 'concat', false],
    ['\\Bcat', 'concat', true],
    ['^[^/]+/[a-f0-9-]+$', 'x/de-ad', true],
    ['^\\d+\\.\\w+\\s\\S\\D\\W$', '12.a_ xy!', true],
    ['^.$', '\n', false],
    ['^.$', '😀', true],
    ['[\\]\\-\\\\]', ']', true],
    ['\\x41\\u0042\\t', 'AB\t', true],
    ['\\Aab\\z', 'ab', true],
    ['a{', 'a{', true],
    ['a{,2}', 'a{,2}', true],
    ['[]', 'x', false],
    ['[^]', '\n', true],
  ])('/%s/ in %j: %s', (source, text, expected) => {
    expect(search(source, text)).toBe(expected)
  })

  it('ignores case when asked, in classes too', () => {
    expect(search('^straße[a-z]$', 'STRAßEX', true)).toBe(true)
    expect(search('^[^a]$', 'A', true)).toBe(false)
    expect(search('ABC', 'abc')).toBe(false)
  })

  it.each([
    ['(?=a)', 'lookahead is not supported'],
    ['(?!a)', 'lookahead is not supported'],
    ['(?<=a)', 'lookbehind is not supported'],
    ['(?<!a)', 'lookbehind is not supported'],
    ['(?>a)', 'atomic groups are not supported'],
    ['(?<n>a)', 'named groups are not supported'],
    ['(?(1)a)', 'conditional groups are not supported'],
    ['(?i:a)', 'only plain groups and `(?:…)` are supported'],
    ['a++', 'possessive quantifiers are not supported'],
    ['a*+', 'possessive quantifiers are not supported'],
    ['(a)\\1', 'backreferences are not supported'],
    ['\\p{L}', '`\\p` is not supported'],
    ['[[:alpha:]]', 'named classes such as `[:alpha:]` are not supported'],
    ['a**', 'a quantifier cannot follow another'],
    ['*a', 'nothing to repeat'],
    ['^*', 'an anchor cannot be repeated'],
    ['(a', 'unmatched `(`'],
    ['a)', 'unmatched `)`'],
    ['[a', 'unmatched `[`'],
    ['[z-a]', 'a range in `[…]` runs backwards'],
    ['[\\d-z]', 'a range in `[…]` needs a single character at each end'],
    ['a\\', 'a `\\` at the end escapes nothing'],
    ['a{3,2}', 'a repetition counts down'],
    ['a{2000}', 'a repetition may count to at most 1000'],
    ['\\xZZ', 'a `\\x` or `\\u` escape needs hexadecimal digits'],
    ['((a{100}){100}){100}', 'the regular expression grows too large when its repetitions are written out'],
    [
      '(((){1000}){1000}){1000}',
      'the regular expression grows too large when its repetitions are written out',
    ],
    ['^(){1000}a$', true],
    [
      '(((a?){1000}){1000}){1000}',
      'the regular expression grows too large when its repetitions are written out',
    ],
    ['('.repeat(100), 'groups are nested too deeply'],
    ['a'.repeat(3000), 'the regular expression is too long'],
  ])('answers %j with %j', (source, expected) => {
    expect(search(source, 'a')).toBe(expected)
  })

  it('answers where backtracking would never end', () => {
    expect(search('^(a+)+$', `${'a'.repeat(50_000)}b`)).toBe(false)
    expect(search('(x+x+)+y', 'x'.repeat(20_000))).toBe(false)
    expect(search('^(a|a)*$', `${'a'.repeat(20_000)}b`)).toBe(false)
  })

  it('gives up on a text that is too long for the expression', () => {
    expect(search('(a?){1000}b', 'a'.repeat(200_000))).toBe(
      'the regular expression takes too long on this text',
    )
  })

  it('agrees with RegExp on everything both understand', () => {
    const atom = fc.constantFrom(
      'a',
      'b',
      '.',
      '[ab]',
      '[^a]',
      '\\d',
      '\\w',
      '\\b',
      '^',
      '$',
      'A',
      '\\s',
      '1',
      ' ',
    )
    const { pattern } = fc.letrec<{ pattern: string; piece: string }>((tie) => ({
      piece: fc.oneof(
        { maxDepth: 4 },
        atom,
        fc
          .tuple(tie('pattern'), fc.constantFrom('', '*', '+', '?', '{2}', '{0,2}', '{1,}', '*?', '+?'))
          .map(([inner, quantifier]) => `(?:${inner})${quantifier}`),
      ),
      pattern: fc.oneof(
        { maxDepth: 4 },
        tie('piece'),
        fc.tuple(tie('piece'), tie('pattern')).map((pair) => pair.join('')),
        fc.tuple(tie('piece'), tie('pattern')).map((pair) => pair.join('|')),
      ),
    }))
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'A', '1', ' ', '\n', 'é'), maxLength: 8 })
    fc.assert(
      fc.property(pattern, text, fc.boolean(), (source, subject, ignoreCase) => {
        expect(search(source, subject, ignoreCase)).toBe(
          new RegExp(source, ignoreCase ? 'iu' : 'u').test(subject),
        )
      }),
      { numRuns: 3000 },
    )
  })

  it('accepts or refuses any expression', () => {
    const unit = fc.constantFrom(...'()[]{}?*+\\^$|-:a1,'.split(''))
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 30 }), (source) => {
        expect(['boolean', 'string']).toContain(typeof search(source, 'aa1-'))
      }),
      { numRuns: 3000 },
    )
  })
})

describe('matchWhole', () => {
  it('E28: a format has to match from the first character to the last', () => {
    expect(whole('[0-9a-f]+', 'ff')).toBe(true)
    expect(whole('[0-9a-f]+', 'xff')).toBe(false)
    expect(whole('[0-9a-f]+', 'ffx')).toBe(false)
    expect(whole('a|ab', 'ab')).toBe(true)
    expect(whole('a*', '')).toBe(true)
  })
})
