import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '../../../../testbed/src/any-character.ts'
import { messages, mustRead, mustRefuse, warnings } from '../../test/reading.ts'
import { sourceFromValue } from '../source.ts'
import { readPipeline, readPipelines, readPipelineTree } from './document.ts'

const OPTIONS = { origin: 'upload', maxBytes: 1024 * 1024 } as const

describe('the root of a pipeline', () => {
  it('is a map with steps or a bare list of steps', () => {
    expect(mustRead('steps: [{command: a}]').steps).toHaveLength(1)
    expect(mustRead('[{command: a}, wait]').steps).toHaveLength(2)
  })

  it.each(['just text', '5', 'true', ''])('cannot be %j', (text) => {
    expect(mustRefuse(text)).toMatchObject([{ expected: 'a map with `steps`, or a list of steps' }])
  })

  it('may have no steps, which is worth a warning', () => {
    for (const text of ['env: {}', 'steps: ~', 'steps: []', '[]']) {
      expect(mustRead(text).steps).toEqual([])
      expect(warnings(text)).toEqual(['the pipeline has no steps'])
    }
  })

  it('warns with the likely name when `steps` is misspelt', () => {
    expect(readPipeline('stepz: [{command: a}]', OPTIONS)).toMatchObject({
      warnings: [{ suggestion: 'steps' }],
    })
  })

  it('ignores keys it does not know, where people keep anchors', () => {
    expect(mustRead('common: {a: [1]}\nx-y: 2\nsteps: [wait]').steps).toHaveLength(1)
  })

  it('keeps env in order, with scalars as text', () => {
    expect(mustRead('env: {Z: 1, A: true, M: ~, V: 3.10}\nsteps: [wait]').env).toEqual([
      ['Z', '1'],
      ['A', 'true'],
      ['M', ''],
      ['V', '3.10'],
    ])
  })

  it('refuses env values that are not scalars', () => {
    expect(messages('env: {A: [1], "B=C": 1}\nsteps: [wait]')).toEqual([
      '`env.A` cannot be a list',
      '"B=C" cannot be a name in `env`',
    ])
  })
})

describe('reading with variables', () => {
  it('E37: fills the document in and merges agents key by key', () => {
    const text = `
env: {A: "1", B: "$A-x"}
agents: {queue: big, os: linux}
steps:
  - command: "echo $B $$B \${C:-d} \${C-e} $(date)"
    env: {A: "2"}
    agents: {os: mac}
`
    const document = mustRead(text, { interpolateWith: (name) => (name === 'C' ? '' : undefined) })
    expect(document.env).toEqual([
      ['A', '1'],
      ['B', '1-x'],
    ])
    expect(document.steps[0]).toMatchObject({
      command: 'echo 1-x $B d  $(date)',
      env: { A: '2' },
      agents: ['queue=big', 'os=mac'],
    })
  })

  it('E37: refuses when a needed variable is unset', () => {
    const env = () => undefined
    expect(messages('steps: [{command: "${C?need}"}]', { interpolateWith: env })).toEqual(['$C: need'])
  })

  it('E32: an end anchor is written $$ in an uploaded file', () => {
    const [step] = mustRead('steps: [{command: a, if: build.branch =~ /x$$/}]', {
      interpolateWith: () => '',
    }).steps
    expect(step).toMatchObject({ condition: 'build.branch =~ /x$/' })
  })

  it('leaves the text alone when no lookup is given', () => {
    expect(mustRead('steps: [{command: "$A $$B"}]').steps).toMatchObject([{ command: '$A $$B' }])
  })

  it('reads numbers and booleans that variables brought in', () => {
    const env = (name: string) => ({ N: '3', YES: 'true' })[name]
    const text =
      'steps: [{command: a, parallelism: "$N", cancel_on_build_failing: $YES, timeout_in_minutes: "${N}0"}]'
    expect(mustRead(text, { interpolateWith: env }).steps).toMatchObject([
      { parallelism: 3, cancelOnBuildFailing: true, timeoutMinutes: 30 },
    ])
  })
})

describe('limits of a document', () => {
  it('E38: refuses 501 jobs in one upload, however they come about', () => {
    expect(mustRead(`[${'{command: a},'.repeat(500)}]`).steps).toHaveLength(500)
    expect(messages(`[${'{command: a},'.repeat(501)}]`)).toEqual(['the steps make 501 jobs'])
    expect(messages('[{command: a, parallelism: 499}, wait, {trigger: x}]')).toEqual([
      'the steps make 501 jobs',
    ])
    expect(messages(`[{group: g, steps: [${'{command: a, matrix: [1,2,3,4,5]},'.repeat(101)}]}]`)).toEqual([
      'the steps make 505 jobs',
    ])
  })

  it('allows stored steps as many jobs as a build may have', () => {
    expect(mustRead('[{command: a, parallelism: 4000}]', { origin: 'stored' }).steps).toHaveLength(1)
    expect(messages('[{command: a, parallelism: 4001}]', { origin: 'stored' })).toHaveLength(1)
  })

  it('reports every problem at once in reading order, up to 25', () => {
    expect(messages('[{comand: a}, {command: a, lable: b, retry: 5}, nope]')).toEqual([
      'the step is missing a type',
      '`lable` is not an attribute of a command step',
      '`retry` cannot be the number 5',
      '"nope" is not a step',
    ])
    expect(messages(`[${'nope,'.repeat(100)}]`)).toHaveLength(25)
  })
})

describe('keys and dependencies across steps', () => {
  it('refuses a key used twice, groups included', () => {
    expect(mustRefuse('[{command: a, key: x}, {group: g, steps: [{command: b, key: x}]}]')).toMatchObject([
      { message: 'the key "x" is already used by step 1 ("x")', step: 'step 2.1 ("x")' },
    ])
    expect(messages('[{group: g, key: x, steps: [{command: b, key: x}]}]')).toHaveLength(1)
  })

  it.each([
    ['[{command: a, key: a, depends_on: a}]', 'the step depends on itself: "a" → "a"'],
    [
      '[{command: a, key: a, depends_on: c}, {command: b, key: b, depends_on: a}, {wait: ~, key: c, depends_on: b}]',
      'steps wait for each other: "a" → "c" → "b" → "a"',
    ],
    ['[{group: g, key: g, steps: [{command: a, key: a, depends_on: g}]}]', '"a" → "g" → "a"'],
    ['[{group: g, key: g, steps: [{command: a, depends_on: g}]}]', 'wait for each other'],
    [
      '[{group: g, key: g, depends_on: z, steps: [{command: a}]}, {command: z, key: z, depends_on: g}]',
      '"z"',
    ],
  ])('refuses the cycle in %s', (text, message) => {
    expect(messages(text).join()).toContain(message)
  })

  it('accepts a diamond, a long chain and an unknown key', () => {
    const chain = Array.from({ length: 400 }, (_, n) => `{command: a, key: k${n}, depends_on: k${n + 1}}`)
    expect(mustRead(`[${chain.join(',')}]`).steps).toHaveLength(400)
    mustRead(
      '[{command: a, key: a}, {command: b, key: b, depends_on: [a]}, {command: c, depends_on: [a, b, nope]}]',
    )
  })
})

describe('several documents', () => {
  it('are read in order by readPipelines', () => {
    const read = readPipelines('steps: [{command: a}]\n---\n[{command: b}, wait]\n', OPTIONS)
    expect(read).toMatchObject({
      ok: true,
      documents: [{ steps: [{ command: 'a' }] }, { steps: [{ command: 'b' }, {}] }],
    })
  })

  it('are refused together when one is wrong', () => {
    expect(readPipelines('[{command: a}]\n---\nnope', OPTIONS)).toMatchObject({
      ok: false,
      problems: [{ line: 3 }],
    })
  })

  it('are refused where one is expected', () => {
    expect(mustRefuse('[wait]\n---\n[wait]')).toMatchObject([
      { message: 'the text holds 2 documents, where one is expected', line: 3 },
    ])
  })
})

describe('readPipelineTree', () => {
  it('reads JSON that was parsed elsewhere', () => {
    const tree = sourceFromValue({ steps: [{ command: 'a', matrix: [1, 2] }, 'wait'] })
    if (!tree) throw new Error('The value was refused.')
    expect(readPipelineTree(tree, { origin: 'upload' })).toMatchObject({
      ok: true,
      document: { steps: [{}, {}] },
    })
  })

  it('is never reached by values no file could hold', () => {
    let deep: unknown = 1
    for (let depth = 0; depth < 5000; depth += 1) deep = [deep]
    expect(sourceFromValue(deep)).toBeNull()
    expect(sourceFromValue({ a: '\ud800' })).toBeNull()
    expect(sourceFromValue({ 'a\0': 1 })).toBeNull()
    expect(sourceFromValue([undefined])).toBeNull()
  })
})

describe('readPipeline', () => {
  /** Whether there is a document, or a problem that says what is wrong and where. */
  function isAnswered(text: string): boolean {
    const read = readPipeline(text, { ...OPTIONS, interpolateWith: () => 'x' })
    const problems = read.ok ? read.warnings : read.problems
    const areComplete = problems.every(
      ({ message, line, column }) => message !== '' && line > 0 && column > 0,
    )
    return areComplete && (read.ok || problems.length > 0)
  }

  it('answers any text', () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 300 })
    expect(fc.check(fc.property(text, isAnswered), { numRuns: 300 }).counterexample).toBeNull()
  })

  it('answers text that looks like YAML', () => {
    const words = [
      '- ',
      ': ',
      '\n',
      '  ',
      '&a ',
      ...'[]{},"\'|>#?~1'.split(''),
      ...'*a << steps command $X'.split(' '),
    ]
    const text = fc.string({ unit: fc.constantFrom(...words), maxLength: 60 })
    expect(fc.check(fc.property(text, isAnswered), { numRuns: 1000 }).counterexample).toBeNull()
  })

  it('answers any JSON, and steps made of known attributes', () => {
    const names =
      'command wait block group trigger steps matrix setup adjustments with env agents retry automatic if notify plugins cache checkout fields text key depends_on skip soft_fail secrets signature build type'
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom<unknown>(null, true, 0, 1, 'x', '*', 'wait', '{{matrix}}', 'build.branch == "x"', ''),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom(...names.split(' ')), tie('value'), { maxKeys: 5 }),
      ),
    }))
    const anything = fc.oneof(fc.jsonValue(), value, fc.record({ steps: fc.array(value, { maxLength: 5 }) }))
    const property = fc.property(anything, (json) => isAnswered(JSON.stringify(json)))
    expect(fc.check(property, { numRuns: 1500 }).counterexample).toBeNull()
  })

  it.each([
    [
      'unknown attributes',
      `[{command: a, ${Array.from({ length: 40_000 }, (_, n) => `commend${n}: 1`).join()}}]`,
    ],
    ['steps', `[${'wait,'.repeat(60_000)}]`],
    ['conditions', `[${`{wait: ~, if: "${'build.tag=~/.{999}/||'.repeat(400)}true"},`.repeat(120)}]`],
    [
      'substrings of a long variable',
      `{env: {X: "${'x'.repeat(500_000)}"}, steps: ["${'${X:0:1}'.repeat(50_000)}"]}`,
    ],
    ['notifications', `{notify: [${'{slack: x, if: "build.tag=~/.{9}/"},'.repeat(20_000)}]}`],
    ['long names', `{steps: [{command: a, "${'x'.repeat(900_000)}": 1}]}`],
  ])('refuses a megabyte of %s in few words', (_, text) => {
    const read = readPipeline(text, { ...OPTIONS, interpolateWith: () => undefined })
    if (read.ok) throw new Error('It was accepted.')
    expect(JSON.stringify(read.problems).length).toBeLessThan(50_000)
  })
})

describe('a key in depends_on that no step has', () => {
  it('is a warning that names it and the nearest key, because an upload may bring it', () => {
    const text = 'steps:\n- {command: a, key: build-app}\n- {command: b, depends_on: [build-ap, build-app]}\n'
    const read = readPipeline(text, { origin: 'upload', maxBytes: 1000 })
    expect(read.ok && read.warnings).toEqual([
      {
        message: '`depends_on` names "build-ap", and no step here has that key',
        suggestion: 'build-app',
        line: 3,
        column: 3,
        step: 'step 2 ("b")',
      },
    ])
  })

  it('is looked for in groups too', () => {
    const group = '{group: g, key: g, depends_on: late, steps: [{command: a, key: a}]}'
    expect(warnings(`[${group}, {command: b, depends_on: [a, g]}]`)).toEqual([
      '`depends_on` names "late", and no step here has that key',
    ])
  })
})
