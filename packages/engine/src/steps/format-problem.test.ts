import { describe, expect, it } from 'vitest'
import { mustRefuse } from '../../test/reading.ts'
import { formatProblem } from './format-problem.ts'

describe('formatProblem', () => {
  it('shows the place, the step, the line with a caret and the likely name', () => {
    const text = 'steps:\n  - label: test\n    comand: make\n    command: x\n'
    const [problem] = mustRefuse(text)
    if (!problem) throw new Error('No problem was found.')
    expect(formatProblem('pipeline.yml', text, problem)).toBe(
      [
        'pipeline.yml:3:5: `comand` is not an attribute of a command step',
        '  in step 1 ("test")',
        '  3 |     comand: make',
        '    |     ^',
        '  did you mean `command`?',
      ].join('\n'),
    )
  })

  it('shows what was expected when there is no likely name', () => {
    const text = '\t\n'
    const problem = { message: 'm', line: 1, column: 2, step: null, expected: 'a list' }
    expect(formatProblem('f', text, problem)).toBe('f:1:2: m\n  1 | \t\n    | \t^\n  expected a list')
  })

  it('cuts a long line around the caret', () => {
    const text = `${'a'.repeat(5000)}X${'b'.repeat(5000)}`
    const [, line, caret] = formatProblem('f', text, {
      message: 'm',
      line: 1,
      column: 5001,
      step: null,
    }).split('\n')
    expect(line?.length).toBeLessThan(200)
    expect(line?.[caret?.indexOf('^') ?? -1]).toBe('X')
  })

  it('leaves the excerpt out when the document was never text', () => {
    expect(formatProblem('f', '', { message: 'm', line: 0, column: 0, step: 'step 1' })).toBe(
      'f: m\n  in step 1',
    )
  })
})
