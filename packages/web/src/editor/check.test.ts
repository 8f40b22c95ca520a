import { describe, expect, it } from 'vitest'
import { checkConfiguration } from './check.ts'

describe('the check of a configuration', () => {
  it("marks a mistake on its line, in the server's words", () => {
    const { marks, steps } = checkConfiguration('steps:\n  - comand: echo hi\n')
    expect(marks).toHaveLength(1)
    expect(marks[0]).toMatchObject({ line: 2, severity: 'error' })
    expect(marks[0].text).toContain('did you mean `command`?')
    expect(steps).toEqual([])
  })

  it('marks a YAML mistake', () => {
    expect(checkConfiguration('steps: [').marks[0]).toMatchObject({ severity: 'error' })
  })

  it('joins steps through a wait, and by what they name', () => {
    const { steps, edges } = checkConfiguration(`steps:
  - {label: A, command: a, key: a}
  - {label: B, command: b}
  - wait
  - {label: C, command: c}
  - {label: D, command: d, depends_on: a}
`)
    const label = (id: string) => steps.find((step) => step.id === id)?.label ?? 'wait'
    expect(edges.map(([from, to]) => `${label(from)}>${label(to)}`)).toEqual([
      'A>wait',
      'B>wait',
      'wait>C',
      'A>D',
    ])
  })

  it('lets steps wait for a block before them, but not for an input', () => {
    const { edges } = checkConfiguration('steps: [{command: a}, {block: Ship?}, {input: Name}, {command: b}]')
    expect(edges).toEqual([
      ['step-0', 'step-1'],
      ['step-1', 'step-2'],
      ['step-1', 'step-3'],
    ])
  })

  it('shows the steps of a group inside of it', () => {
    const { steps } = checkConfiguration('steps:\n  - group: G\n    steps: [{command: a}, {command: b}]\n')
    expect(steps.map(({ kind, group_id }) => [kind, group_id])).toEqual([
      ['group', null],
      ['command', 'step-0'],
      ['command', 'step-0'],
    ])
  })
})
