// What the finder never takes for a failure, shapes of tools whose logs are not in the corpus, and hostile logs.
import { describe, expect, it } from 'vitest'
import { expressionsOf, families } from './families.ts'
import { FailingLineFinder } from './finder.ts'
import { general, hasCue, prefix } from './ordinary.ts'

function failingRow(rows: readonly string[]): string | null {
  const finder = new FailingLineFinder()
  for (const [index, row] of rows.entries()) finder.push(index + 1, row, false)
  return finder.row === null ? null : (rows[finder.row - 1] ?? null)
}

describe('the failing row', () => {
  it.each([
    ['$ sh t.sh --fail-fast'],
    ['+ ./check --on-error=abort'],
    ['> shop@1.0.0 test:errors'],
    ['40 passed, 0 failed'],
    ['Found 0 errors. Watching for file changes.'],
    ['no failures, no errors'],
    ['errors: 0, failures: 0'],
    ['failed=0 errors=0'],
    ['   Compiling thiserror v1.0.69'],
    ['test error_handling ... ok'],
    ['tests/test_errors.py::test_failure PASSED [ 50%]'],
    ['  ✓ shows an error for a failed payment (3 ms)'],
    ['ok 3 - fails on purpose'],
    ['added error-stack-parser@2.1.4'],
    ['WARNING: error budget is nearly used'],
    ['[INFO] ErrorHandlerTest failed over to the second host'],
    ['--- PASS: TestErrorHandling (0.00s)'],
    ['src/errors/fail.ts 100 % covered'],
  ])('is never %s', (row) => {
    expect(failingRow(['Starting', row, 'something went wrong: Error: 3 is not 4', row, 'done'])).toBe(
      'something went wrong: Error: 3 is not 4',
    )
  })

  it('is a complaint about a missing error page', () => {
    expect(failingRow(['ok', 'error: there is no error page', 'bye'])).toBe('error: there is no error page')
  })

  it('is the last attempt of a program that was tried again and passed, only if nothing else fails', () => {
    const passed = ['FAILED (failures=1)', '..', 'OK', 'error: disk full']
    expect(failingRow(['FAIL: test_a (t.A)', 'AssertionError: 1 != 2', ...passed])).toBe('error: disk full')
  })
})

// From the documentation of the tools, since they could not be run for the corpus.
describe.each([
  [
    'MSBuild',
    [
      'Determining projects to restore...',
      '/src/Shop/Cart.cs(12,9): warning CS0168: The variable is declared but never used [/src/Shop/Shop.csproj]',
      '/src/Shop/Cart.cs(14,20): error CS0029: Cannot implicitly convert type',
      'Build FAILED.',
      '    1 Warning(s)',
      '    1 Error(s)',
    ],
    2,
  ],
  [
    'dotnet test',
    [
      'A total of 1 test files matched the specified pattern.',
      '  Failed Shop.Tests.CartTest.Adds [12 ms]',
      '  Error Message:',
      '   Assert.Equal() Failure: Values differ',
      'Failed!  - Failed:     1, Passed:     4, Skipped:     0, Total:     5',
    ],
    3,
  ],
  [
    'terraform',
    [
      'Plan: 1 to add, 0 to change, 0 to destroy.',
      '╷',
      '│ Error: Invalid reference',
      '│ ',
      '│   on main.tf line 3, in resource "x" "y":',
      '╵',
    ],
    2,
  ],
  [
    'Docker',
    [
      '#7 [2/2] RUN npm test',
      '#7 0.412 > shop@1.0.0 test',
      '#7 0.812 AssertionError [ERR_ASSERTION]: 3 == 4',
      '#7 ERROR: process "/bin/sh -c npm test" did not complete successfully: exit code: 1',
      'ERROR: failed to solve: process "/bin/sh -c npm test" did not complete successfully: exit code: 1',
    ],
    2,
  ],
  [
    'Ansible',
    [
      'TASK [deploy : copy] ***',
      'fatal: [web-1]: FAILED! => {"msg": "no space"}',
      'web-1 : ok=3 changed=1 failed=1',
    ],
    1,
  ],
  ['Elixir', ['  1) test adds (CartTest)', '     test/cart_test.exs:5', '     Assertion with == failed'], 2],
])('%s', (_, rows, row) => {
  it('is understood', () => {
    expect(failingRow(rows)).toBe(rows[row])
  })
})

describe('every expression of the table', () => {
  const all = [...families, general].flatMap((family) =>
    expressionsOf(family).map((expression) => ({
      name: family.name,
      source: expression.source,
      flags: expression.flags,
    })),
  )

  it('begins at the start of a row, has no groups and no flags', () => {
    const odd = all.filter(
      ({ name, source, flags }) =>
        name !== general.name && (!source.startsWith('^') || flags !== '' || /(?<!\\)\((?!\?)/.test(source)),
    )
    expect(odd).toEqual([])
  })

  it('repeats nothing that repeats', () => {
    expect(
      all.filter(({ source }) => /[*+}]\)(?:[*+]|\{\d+,\})/.test(source.replaceAll(/\\./g, 'x'))),
    ).toEqual([])
  })

  it('has a family of its own name', () => {
    expect(new Set([...families, general].map(({ name }) => name)).size).toBe(families.length + 1)
  })
})

describe('a hostile log', () => {
  it.each([
    ':1',
    '(1,1): ',
    'a.b:',
    ' > ',
    '1) ',
    '=== ',
    'error ',
    ' at x line ',
    '\\',
    '::',
    '../',
    '● ',
    '> @1',
    '"',
    '0 ',
  ])('of rows of %j ends', (part) => {
    const row = part.repeat(Math.ceil(4000 / part.length))
    const finder = new FailingLineFinder()
    for (let number = 1; number <= 300; number++) {
      finder.push(number, row, number % 2 === 0)
      finder.push(number, `x${row}`, false)
    }
    expect(finder.row).not.toBeUndefined()
    expect(prefix.exec(row)?.[0].length ?? 0).toBeLessThan(200)
    expect(hasCue(row)).toBeTypeOf('boolean')
  })

  it('does not grow what is kept', () => {
    const finder = new FailingLineFinder()
    const sizes = Array.from({ length: 3 }, () => {
      for (let number = 0; number < 3000; number++) {
        if (number % 50 === 0) finder.beginSection(number)
        finder.push(number, `src/${number}.c:${number}:1: error: no`, false)
        finder.push(number, `    x_test.go:${number}: no`, false)
        finder.push(number, `FAIL: test_${number} (t.T)`, false)
      }
      return JSON.stringify(finder.state).length
    })
    expect(Math.max(...sizes)).toBeLessThan(3000)
  })
})
