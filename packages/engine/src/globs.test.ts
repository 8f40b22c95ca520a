import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchesGlob, matchesWildcard } from './globs.ts'

describe('matchesGlob', () => {
  it.each([
    ['main.go', 'main.go', true],
    ['*.go', 'main.go', true],
    ['*.go', 'pkg/main.go', false],
    ['**.go', 'pkg/sub/main.go', true],
    ['**/*.go', 'pkg/main.go', true],
    ['**/*.go', 'main.go', true],
    ['pkg/**', 'pkg/a/b', true],
    ['pkg/**', 'pkgs', false],
    ['a/**/b', 'a/b', true],
    ['a/**/b', 'a/x/y/b', true],
    ['a/**/b', 'ab', false],
    ['?.txt', 'a.txt', true],
    ['?.txt', '/.txt', false],
    ['?.txt', '😀.txt', true],
    ['{a,b,}.c', 'a.c', true],
    ['{a,b,}.c', '.c', true],
    ['{a,{b,c}d}/e', 'cd/e', true],
    ['{a, b}', ' b', true],
    ['{src/**,docs/*}.md', 'src/a/b.md', true],
    ['{src/**,docs/*}.md', 'docs/a/b.md', false],
    ['[abc]x', 'bx', true],
    ['[a-c]x', 'bx', false],
    ['[a-c]x', '-x', true],
    ['[^abc]x', 'bx', false],
    ['[^abc]x', 'dx', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['\\{a\\}', '{a}', true],
    ['', '', true],
    ['*', '', true],
  ])('%j against %j is %s', (pattern, path, expected) => {
    expect(matchesGlob(pattern, path)).toBe(expected)
  })

  it.each(['{a', '[a', 'a\\', 'x'.repeat(3000)])('matches nothing when malformed: %j', (pattern) => {
    expect(matchesGlob(pattern, pattern)).toBe(false)
  })

  it('answers where backtracking would never end', () => {
    expect(matchesGlob('**a'.repeat(60), `${'a'.repeat(2000)}b`)).toBe(false)
    expect(matchesGlob('{a,a}'.repeat(100), `${'a'.repeat(99)}b`)).toBe(false)
  })

  it('answers any pattern', () => {
    const unit = fc.constantFrom('*', '?', '{', '}', ',', '[', ']', '^', '\\', '/', 'a', 'b')
    const text = fc.string({ unit, maxLength: 40 })
    fc.assert(
      fc.property(text, text, (pattern, path) => {
        expect(matchesGlob(pattern, path)).toBeTypeOf('boolean')
      }),
      { numRuns: 1000 },
    )
  })
})

describe('matchesWildcard', () => {
  it('agrees with the regular expression it stands for', () => {
    const unit = fc.constantFrom('a', 'b', '/', '*')
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 8 }), fc.string({ unit, maxLength: 12 }), (pattern, text) => {
        const expected = new RegExp(`^${pattern.replaceAll('*', '.*')}$`, 's').test(text)
        expect(matchesWildcard(pattern, text)).toBe(expected)
      }),
      { numRuns: 2000 },
    )
  })
})
