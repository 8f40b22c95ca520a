import { describe, expect, it } from 'vitest'
import { messages, mustRead, oneCommand, oneStep, refuseCommand } from '../../../test/reading.ts'

describe('matrix', () => {
  it('reads the three forms', () => {
    expect(oneCommand('matrix: [a, 1, true, 3.10, a]').matrix).toEqual({
      dimensions: [{ name: null, values: ['a', '1', 'true', '3.10'] }],
      adjustments: [],
    })
    expect(
      oneCommand('matrix: {setup: [a, b], adjustments: [{with: b, skip: true}, {with: [c]}]}').matrix,
    ).toEqual({
      dimensions: [{ name: null, values: ['a', 'b'] }],
      adjustments: [
        { with: ['b'], skip: 'skipped', softFail: null },
        { with: ['c'], skip: false, softFail: null },
      ],
    })
  })

  it('E34: reads named dimensions and adjustments', () => {
    const step = oneStep(`{label: "{{matrix.os}}/{{ matrix.arch }}", command: "make {{matrix.os}}", matrix: {
      setup: {os: [linux, mac], arch: [x86, arm]},
      adjustments: [
        {with: {os: linux, arch: arm}, skip: true},
        {with: {arch: x86, os: mac}, soft_fail: true},
        {with: {os: bsd, arch: x86}}]}}`)
    expect(step).toMatchObject({
      matrix: {
        dimensions: [
          { name: 'os', values: ['linux', 'mac'] },
          { name: 'arch', values: ['x86', 'arm'] },
        ],
        adjustments: [
          { with: ['linux', 'arm'], skip: 'skipped' },
          { with: ['mac', 'x86'], softFail: true },
          { with: ['bsd', 'x86'], skip: false, softFail: null },
        ],
      },
    })
  })

  it('E34: refuses an adjustment that leaves a dimension out', () => {
    expect(refuseCommand('matrix: {setup: {os: [a], arch: [b]}, adjustments: [{with: {os: a}}]}')).toEqual([
      '`with` does not say which `arch` it means',
    ])
  })

  it('E34: refuses a token that names no dimension', () => {
    const cpu = ['`{{matrix.cpu}}` names no dimension of the matrix']
    expect(refuseCommand('label: "{{matrix.cpu}}", matrix: {setup: {os: [a]}}')).toEqual(cpu)
    expect(refuseCommand('env: {X: "{{ matrix.cpu }}"}, matrix: [a]')).toEqual(cpu)
    expect(refuseCommand('plugins: [{p: {a: ["{{matrix.cpu}}"]}}], matrix: [a]')).toEqual(cpu)
    expect(refuseCommand('agents: {os: "{{matrix}}"}, matrix: {setup: {os: [a]}}')).toEqual([
      '`{{matrix}}` names no dimension of the matrix',
    ])
  })

  it('leaves tokens alone where there is no matrix', () => {
    expect(oneCommand('label: "{{matrix.x}} {{other}}"').label).toBe('{{matrix.x}} {{other}}')
  })

  it('E34: refuses 51 combinations', () => {
    const values = (count: number) => `[${Array.from({ length: count }, (_, n) => n).join(',')}]`
    expect(oneCommand(`matrix: {setup: {a: ${values(25)}, b: [1, 2]}}`).matrix?.dimensions).toHaveLength(2)
    expect(
      refuseCommand(`matrix: {setup: {a: ${values(25)}, b: [1, 2]}, adjustments: [{with: {a: x, b: 1}}]}`),
    ).toEqual(['the matrix makes 51 jobs'])
    expect(refuseCommand(`matrix: {setup: {a: ${values(17)}, b: [1, 2, 3]}}`)).toEqual([
      'the matrix makes 51 jobs',
    ])
  })

  it('makes a step of each combination when the key has its values', () => {
    const document = mustRead(`steps:
      - command: make build
        key: "build-{{matrix.node}}-{{ matrix.os }}"
        matrix:
          setup: {node: ["20", "22"], os: [linux]}
          adjustments: [{with: {node: "22", os: linux}, soft_fail: true}, {with: {node: "24", os: mac}, skip: Later}]
      - {command: make report, depends_on: [build-20-linux, build-24-mac]}`)
    expect(document.steps.map(({ key }) => key)).toEqual([
      'build-20-linux',
      'build-22-linux',
      'build-24-mac',
      null,
    ])
    const matrices = document.steps.map((step) => (step.kind === 'command' ? step.matrix : null))
    expect(matrices[0]).toEqual({
      dimensions: [
        { name: 'node', values: ['20'] },
        { name: 'os', values: ['linux'] },
      ],
      adjustments: [],
    })
    expect(matrices[1]?.adjustments).toEqual([{ with: ['22', 'linux'], skip: false, softFail: true }])
    expect(matrices[2]?.adjustments).toEqual([{ with: ['24', 'mac'], skip: 'Later', softFail: null }])
  })

  it('fills its values in what a step depends on, with or without a key', () => {
    const document = mustRead(`steps:
      - {command: build, key: "build-{{matrix}}", matrix: [a, b]}
      - group: Tests
        steps:
          - {command: test, key: "test-{{matrix}}", depends_on: ["build-{{matrix}}"], matrix: [a, b]}
          - {command: lint, depends_on: [{step: "build-{{matrix}}", allow_failure: true}], matrix: [b]}`)
    const [, , group] = document.steps
    expect(group?.kind === 'group' && group.steps).toMatchObject([
      { key: 'test-a', dependsOn: [{ ref: 'build-a', allowFailure: null }] },
      { key: 'test-b', dependsOn: [{ ref: 'build-b', allowFailure: null }] },
      { key: null, dependsOn: [{ ref: 'build-b', allowFailure: true }] },
    ])
  })

  it('refuses keys that are equal, that no step may have, or whose tokens name no dimension', () => {
    const two = 'matrix: {setup: {a: [1, 2], b: [1, 2]}}'
    expect(refuseCommand(`key: "x-{{matrix.a}}", ${two}`)).toEqual([
      'two jobs of the matrix have the key "x-1"',
    ])
    expect(refuseCommand('key: "x-{{matrix}}", matrix: [a b]')).toEqual([
      '`key` cannot be "x-a b", as the matrix makes it',
    ])
    expect(refuseCommand('key: "x-{{matrix.z}}", matrix: [a]')).toEqual([
      '`{{matrix.z}}` names no dimension of the matrix',
    ])
    expect(refuseCommand('key: "x-{{matrix}}"')).toEqual(['`key` cannot be "x-{{matrix}}"'])
    expect(refuseCommand('key: x, depends_on: "y-{{matrix}}", matrix: [a]')).toEqual([
      '`depends_on` has values of the matrix, but `key` has none',
    ])
    expect(messages('[{command: a, key: x-1}, {command: b, key: "x-{{matrix}}", matrix: [1, 2]}]')).toEqual([
      'the key "x-1" is already used by step 1 ("x-1")',
    ])
  })

  it('allows an empty dimension that adjustments fill', () => {
    expect(
      oneCommand('matrix: {setup: {a: [], b: [1]}, adjustments: [{with: {a: x, b: 1}}]}').matrix,
    ).not.toBeNull()
    expect(refuseCommand('matrix: []')).toEqual(['the matrix makes no job'])
  })

  it.each([
    'matrix: 5',
    'matrix: {adjustments: []}',
    'matrix: {setup: 5}',
    'matrix: {setup: {a-b: [1]}}',
    'matrix: {setup: {a: [1], b: [1], c: [1], d: [1], e: [1], f: [1], g: [1]}}',
    'matrix: [[a]]',
    'matrix: [~]',
    `matrix: [${Array.from({ length: 26 }, (_, n) => n).join(',')}]`,
    `matrix: [${'ä'.repeat(65)}]`,
    `matrix: {setup: [a], adjustments: [${'{with: a},'.repeat(13)}]}`,
    'matrix: {setup: [a], adjustments: [{skip: true}]}',
    'matrix: {setup: [a], adjustments: [{with: a, env: {}}]}',
    'matrix: {setup: {a: [1]}, adjustments: [{with: {a: 1, z: 2}}]}',
    'matrix: {setup: {a: [1]}, adjustments: [{with: 1}]}',
    'matrix: {setup: [a], adjustments: [5]}',
  ])('refuses %s', (attributes) => {
    expect(messages(`[{command: make, ${attributes}}]`)).not.toEqual([])
  })
})
