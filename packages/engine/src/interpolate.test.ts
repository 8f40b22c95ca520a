import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { interpolateText, interpolateTree } from './interpolate.ts'
import { plainValue } from './source.ts'
import { parseSource } from './yaml.ts'

const ENV: Record<string, string> = {
  A: 'alpha',
  B: '',
  A_: 'under',
  LONG: '0123456789',
  DOLLAR: '$A',
  WIDE: '日本語😀',
}
const lookup = (name: string) => (Object.hasOwn(ENV, name) ? ENV[name] : undefined)

function fill(text: string): string {
  const filled = interpolateText(text, lookup)
  return filled.ok ? filled.value : `error: ${filled.message}`
}

function fillTree(text: string, env: Record<string, string> = ENV): unknown {
  const parsed = parseSource(text, 100_000)
  if (!parsed.ok || !parsed.documents[0]) throw new Error('The text does not parse.')
  const filled = interpolateTree(parsed.documents[0], (name) => env[name])
  return filled.ok ? plainValue(filled.tree) : `${filled.problem.line}: ${filled.problem.message}`
}

describe('interpolateText', () => {
  it.each([
    ['$A ${A} $NOPE ${NOPE}.', 'alpha alpha  .'],
    ['${NOPE:-w} ${B:-w} ${A:-w}', 'w w alpha'],
    ['${NOPE-w} ${B-w} ${A-w}', 'w  alpha'],
    ['${NOPE:-a ${NOPE-$A} b}', 'a alpha b'],
    ['${NOPE:-}', ''],
    ['${B?needed}${A?needed}', 'alpha'],
    ['${NOPE?needed}', 'error: $NOPE: needed'],
    ['${NOPE?}', 'error: $NOPE: not set'],
    ['${NOPE?no $A}', 'error: $NOPE: no alpha'],
    ['${LONG:3}', '3456789'],
    ['${LONG:3:2}', '34'],
    ['${LONG: -3}', '789'],
    ['${LONG: -30}', '0123456789'],
    ['${LONG:30}', ''],
    ['${LONG:2:-3}', '23456'],
    ['${LONG:8:-5}', ''],
    ['${LONG:8:50}', '89'],
    ['${NOPE:1:2}', ''],
    ['${WIDE:2:2}', '語😀'],
    ['$$A \\$A $${A} \\${A}', '$A $A ${A} ${A}'],
    ['$${NOPE:-$A}', '${NOPE:-alpha}'],
    ['a\\\\b \\\\$A', 'a\\\\b \\\\alpha'],
    ['$(date) $(echo $A)', '$(date) $(echo alpha)'],
    ['$ $1 $_A $- 5$', '$ $1 $_A $- 5$'],
    ['$A_$A', 'underalpha'],
    ['$DOLLAR', '$A'],
    ['${NOPE:-{x}}', '{x}'],
  ])('fills %j', (text, expected) => {
    expect(fill(text)).toBe(expected)
  })

  it.each([
    '${}',
    '${_A}',
    '${1}',
    '${A',
    '${A:-x',
    '${A:=x}',
    '${A:?x}',
    '${A:+x}',
    '${A+x}',
    '${A:}',
    '${A:x}',
    '${A b}',
  ])('refuses %j', (text) => {
    expect(fill(text)).toMatch(/^error: /)
  })

  it('refuses text that would grow without bound', () => {
    const filled = interpolateText('$X'.repeat(100_000), () => 'x'.repeat(10_000))
    expect(filled).toEqual({ ok: false, message: 'the text grows too long once its variables are filled in' })
  })

  it('refuses nesting deeper than anyone writes', () => {
    expect(fill('${A:-'.repeat(5000))).toContain('error: ')
  })

  it('leaves text without a dollar sign as it is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!text.includes('$'))
        expect(fill(text)).toBe(text)
      }),
    )
  })

  it('gives back any text whose dollar signs were doubled', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('$', '{', '}', 'A', ' ', ':', '-', '(') }), (text) => {
        expect(fill(text.replaceAll('$', '$$$$'))).toBe(text)
      }),
    )
  })

  it('never looks into the values it filled in', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        expect(interpolateText('<$X>', () => value)).toEqual({ ok: true, value: `<${value}>` })
      }),
    )
  })

  it('answers any text', () => {
    const unit = fc.constantFrom('$', '{', '}', ':', '-', '?', '\\', 'A', '1', '_', ' ', '(')
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 60 }), (text) => {
        expect(fill(text)).toBeTypeOf('string')
      }),
      { numRuns: 2000 },
    )
  })
})

describe('interpolateTree', () => {
  it('fills the root env from top to bottom, before the steps that stand above it', () => {
    const text =
      'steps: [{command: "$ONE $TWO $A"}]\nenv: {ONE: "$A", TWO: "$ONE!", A: own, THREE: "$A", N: 5, E: ~, S: "$N$E."}'
    expect(fillTree(text)).toMatchObject({
      env: { ONE: 'alpha', TWO: 'alpha!', A: 'own', THREE: 'own', S: '5.' },
      steps: [{ command: 'alpha alpha! own' }],
    })
  })

  it('fills keys of maps, labels and plugin names', () => {
    expect(fillTree('[{command: x, label: "$A", plugins: [{"$A#v1": {"k$A": ["$A"]}}]}]')).toEqual([
      { command: 'x', label: 'alpha', plugins: [{ 'alpha#v1': { kalpha: ['alpha'] } }] },
    ])
  })

  it('leaves a signature alone, at the top, in a group and in a nested step', () => {
    const text =
      'steps: [{signature: {value: $A}}, {group: $A, steps: [{signature: {value: $A}}]}, {command: {signature: {value: $A}}}]'
    expect(fillTree(text)).toEqual({
      steps: [
        { signature: { value: '$A' } },
        { group: 'alpha', steps: [{ signature: { value: '$A' } }] },
        { command: { signature: { value: '$A' } } },
      ],
    })
  })

  it('fills a plugin setting that happens to be called signature', () => {
    expect(fillTree('[{plugins: [{p: {signature: $A}}]}]')).toEqual([
      { plugins: [{ p: { signature: 'alpha' } }] },
    ])
  })

  it('keeps numbers, booleans and nulls as they are', () => {
    expect(fillTree('{steps: [1, true, ~]}')).toEqual({ steps: [1, true, null] })
  })

  it('says on which line a variable is missing', () => {
    expect(fillTree('steps:\n  - command: "${NOPE?is needed}"')).toBe('2: $NOPE: is needed')
  })

  it('refuses keys that become equal', () => {
    expect(fillTree('steps: [{env: {$NOPE: 1, $NADA: 2}}]')).toContain('appears twice')
  })
})
