import { describe, expect, it } from 'vitest'
import { messages, mustRead, warnings } from '../../../test/reading.ts'
import { plainValue } from '../../source.ts'
import { parseSource } from '../../yaml.ts'
import { resolveIfChanged } from './if-changed.ts'

const REASON = 'no file named by if_changed has changed'

function resolve(text: string, changed: string[] | null): unknown {
  const parsed = parseSource(text, 100_000)
  if (!parsed.ok || !parsed.documents[0]) throw new Error('The text does not parse.')
  return plainValue(resolveIfChanged(parsed.documents[0], changed))
}

describe('if_changed', () => {
  it('is refused in stored steps and tolerated on an upload', () => {
    for (const step of [
      '{command: a, if_changed: x}',
      '{trigger: a, if_changed: x}',
      '{group: a, steps: [wait], if_changed: x}',
    ]) {
      expect(messages(`[${step}]`, { origin: 'stored' })).toHaveLength(1)
      expect(mustRead(`[${step}]`).steps).toHaveLength(1)
    }
    expect(messages('[{wait: ~, if_changed: x}]')).toEqual([
      '`if_changed` is not an attribute of a wait step',
    ])
  })

  it('warns about an unknown shape', () => {
    expect(warnings('[{command: a, if_changed: {exclude: x}}]')).toEqual([
      '`if_changed` is not understood, so the step always runs',
    ])
  })
})

describe('resolveIfChanged', () => {
  it.each([
    ['docs/**', ['docs/a.md'], true],
    ['docs/**', ['src/a.ts'], false],
    ['[docs/**, "*.md"]', ['README.md'], true],
    ['{include: "**/*.go", exclude: vendor/**}', ['vendor/a.go'], false],
    ['{include: "**/*.go", exclude: vendor/**}', ['vendor/a.go', 'main.go'], true],
    ['{include: [a, b], exclude: [b]}', ['b'], false],
    ['docs/**', [], false],
  ])('%s with %j changed: runs %s', (value, changed, runs) => {
    const expected = runs ? [{ command: 'x' }] : [{ command: 'x', skip: REASON }]
    expect(resolve(`[{command: x, if_changed: ${value}}]`, changed)).toEqual(expected)
  })

  it.each(['{exclude: x}', '5', '[]', '[[a]]', '"{a"', '~'])(
    'runs the step when the shape is wrong: %s',
    (value) => {
      expect(resolve(`[{command: x, if_changed: ${value}}]`, [])).toEqual([{ command: 'x' }])
    },
  )

  it('runs every step when the change cannot be computed', () => {
    expect(resolve('[{command: x, if_changed: y}]', null)).toEqual([{ command: 'x' }])
  })

  it('reaches triggers, groups, steps in groups and nested steps', () => {
    const text =
      'steps: [{trigger: t, if_changed: a}, {group: g, if_changed: a, steps: [{command: c, if_changed: b}]}, {command: {command: d, if_changed: a}}, wait]'
    expect(resolve(text, ['b'])).toEqual({
      steps: [
        { trigger: 't', skip: REASON },
        { group: 'g', steps: [{ command: 'c' }], skip: REASON },
        { command: { command: 'd', skip: REASON } },
        'wait',
      ],
    })
  })

  it('keeps a reason that was already given and replaces one that skips nothing', () => {
    expect(resolve('[{command: x, skip: why, if_changed: y}]', [])).toEqual([{ command: 'x', skip: 'why' }])
    expect(resolve('[{command: x, skip: false, if_changed: y}]', [])).toEqual([
      { command: 'x', skip: REASON },
    ])
  })
})
