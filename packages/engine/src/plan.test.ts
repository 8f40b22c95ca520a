import { describe, expect, it } from 'vitest'
import { aCommand, aDocument, aGroup, aManual, aWait } from '../test/builders.ts'
import { counter, someFacts } from '../test/running.ts'
import { plan } from './plan.ts'
import type { Plan, PlanContext, PlanResult } from './plan.ts'
import { positionBehind, positionInBuild, positionInGroup } from './plan/positions.ts'
import { combinationsOf } from './steps/attributes/combinations.ts'
import type { Dependency, StepDefinition } from './steps/types.ts'

function planOf(steps: readonly StepDefinition[], given: Partial<PlanContext> = {}): PlanResult {
  return plan(aDocument(steps), someFacts(), {
    mint: counter('id-'),
    at: 'now',
    scheduledAt: 'then',
    jobsInBuild: 0,
    uploadsInBuild: 0,
    upload: null,
    ...given,
  })
}

function mustPlan(steps: readonly StepDefinition[]): Plan {
  const result = planOf(steps)
  if (!result.ok) throw new Error(result.message)
  return result.plan
}

/** Edges as `from>to`, by step key. */
function edgesOf({ steps, edges }: Plan): string[] {
  const keys = new Map(steps.map(({ row }) => [row.id, row.key]))
  return edges.map(({ from, to }) => `${keys.get(from)}>${keys.get(to)}`)
}

const on = (...refs: string[]): Dependency[] => refs.map((ref) => ({ ref, allowFailure: null }))
const c = (key: string, dependsOn: Dependency[] | null = null) => aCommand(key, { key, dependsOn })

describe('edges', () => {
  it('join a barrier to what stands since the last one, and later steps to the barrier', () => {
    const steps = [c('a'), c('b'), aWait({ key: 'w' }), c('c'), aWait({ key: 'v' }), c('d')]
    expect(edgesOf(mustPlan(steps))).toEqual(['a>w', 'b>w', 'w>c', 'w>v', 'c>v', 'v>d'])
  })

  it('let a barrier look past a wait that names its dependencies', () => {
    const steps = [c('a'), c('b'), aWait({ key: 'w', dependsOn: on('a') }), c('c'), aWait({ key: 'v' })]
    expect(edgesOf(mustPlan(steps))).toEqual(['a>w', 'w>c', 'a>v', 'b>v', 'w>v', 'c>v'])
  })

  it('leave out ignored steps, which are no barriers either', () => {
    const ignored = { condition: 'false' }
    const steps = [c('a'), aWait({ key: 'w', ...ignored }), c('b'), aManual('block', { key: 'v' }), c('c')]
    expect(edgesOf(mustPlan(steps))).toEqual(['a>v', 'b>v', 'v>c'])
  })

  it('give the steps of a group its dependencies beside their own', () => {
    const group = aGroup([c('x'), aWait({ key: 'w' }), c('y', on('b'))], { key: 'g', dependsOn: on('a') })
    expect(edgesOf(mustPlan([c('a'), c('b'), group, c('z', on('g'))]))).toEqual([
      'a>x',
      'a>w',
      'x>w',
      'a>y',
      'b>y',
      'g>z',
    ])
  })

  it('number no more than a few per step', () => {
    const steps = Array.from({ length: 400 }, (_, index) => [c(`a${index}`), c(`b${index}`), aWait()]).flat()
    const members = Array.from({ length: 400 }, (_, index) => c(`m${index}`))
    const named = Array.from({ length: 400 }, (_, index) => c(`n${index}`, on('g')))
    const { edges } = mustPlan([...steps, aGroup(members, { key: 'g' }), ...named])
    expect(edges.length).toBeLessThan(3 * (1200 + 800))
  })

  it('are as strict as the stricter of two mentions', () => {
    const dependsOn = [
      { ref: 'a', allowFailure: true },
      { ref: 'a', allowFailure: false },
    ]
    expect(mustPlan([c('a'), c('b', dependsOn)]).edges).toMatchObject([{ allowFailure: false }])
  })

  it('become references where the key is unknown', () => {
    const { refs, steps } = mustPlan([c('a', on('late', 'later'))])
    expect(refs.map(({ ref }) => ref)).toEqual(['late', 'later'])
    expect(steps[0]?.row.missing).toBe(2)
  })
})

describe('refusals', () => {
  it.each<[string, StepDefinition[], string]>([
    ['the same key twice', [c('a'), aGroup([c('a')])], 'The key "a" is already used'],
    ['a step that depends on itself', [c('a', on('a'))], '"a" depend on each other'],
    ['a circle', [c('a', on('b')), c('b', on('a'))], '"a", "b" depend on each other'],
    ['a member that depends on its group', [aGroup([c('a', on('g'))], { key: 'g' })], 'in a circle'],
    [
      'an unknown matrix token',
      [
        aCommand('{{matrix.cpu}}', {
          matrix: { dimensions: [{ name: 'os', values: ['a'] }], adjustments: [] },
        }),
      ],
      '{{matrix.cpu}} names no dimension',
    ],
    ['more jobs than a build may have', [aCommand('a', { parallelism: 4001 })], 'at most 4000 jobs'],
  ])('of %s', (_, steps, message) => {
    const result = planOf(steps)
    expect(result.ok ? '' : result.message).toContain(message)
  })

  it('count the jobs the build already has', () => {
    expect(planOf([c('a'), c('b')], { jobsInBuild: 3999 }).ok).toBe(false)
    expect(planOf([c('a')], { jobsInBuild: 3999 }).ok).toBe(true)
  })
})

describe('jobs', () => {
  it('inherit their time and start pending or broken', () => {
    const { jobs } = mustPlan([c('a'), aCommand('b', { skip: 'later' })])
    expect(jobs.map(({ row }) => [row.state, row.scheduledAt, row.finishedAt])).toEqual([
      ['pending', 'then', null],
      ['broken', 'then', 'now'],
    ])
  })

  it('number themselves in parallel labels', () => {
    const { jobs } = mustPlan([aCommand('a', { label: '%n %N %t %T %x', parallelism: 2 })])
    expect(jobs.map(({ work }) => ('label' in work ? work.label : null))).toEqual([
      '0 1 2 2 %x',
      '1 2 2 2 %x',
    ])
  })

  it('fill matrix tokens wherever a step may use them', () => {
    const step = aCommand('make {{ matrix }}', {
      label: 'L {{matrix}}',
      env: { '{{matrix}}': '{{matrix}}' },
      agents: ['os={{matrix}}'],
      artifactPaths: '{{matrix}}/*',
      testResults: ['{{matrix}}.xml'],
      plugins: [{ source: 'x#{{matrix}}', config: { deep: ['{{matrix}}', 1] } }],
      matrix: { dimensions: [{ name: null, values: ['$&'] }], adjustments: [] },
    })
    expect(mustPlan([step]).jobs[0]?.work).toMatchObject({
      command: 'make $&',
      label: 'L $&',
      env: { '{{matrix}}': '$&' },
      agents: ['os=$&'],
      artifactPaths: '$&/*',
      testResults: ['$&.xml'],
      plugins: [{ source: 'x#$&', config: { deep: ['$&', 1] } }],
      matrix: '$&',
    })
  })
})

describe('matrix combinations', () => {
  it('skip when any adjustment says so', () => {
    const dimensions = [{ name: null, values: ['a'] }]
    const adjust = (skip: false | string) => ({ with: ['a'], skip, softFail: null })
    expect(combinationsOf({ dimensions, adjustments: [adjust('no'), adjust(false)] })).toEqual([
      { values: ['a'], skip: 'no', softFail: null },
    ])
  })

  it('may come from adjustments alone', () => {
    const matrix = {
      dimensions: [{ name: 'os', values: [] }],
      adjustments: [{ with: ['bsd'], skip: false as const, softFail: true }],
    }
    expect(combinationsOf(matrix)).toEqual([{ values: ['bsd'], skip: false, softFail: true }])
  })
})

describe('positions', () => {
  it('sort group members before uploads, and later uploads before earlier ones', () => {
    const group = positionInBuild(1)
    const positions = [
      positionInBuild(0),
      group,
      positionInGroup(group, 0),
      positionInGroup(group, 11),
      positionBehind(group, 1, 0),
      positionBehind(positionBehind(group, 1, 0), 2, 0),
      positionBehind(group, 1, 1),
      positionBehind(group, 0, 0),
      positionInBuild(2),
    ]
    expect(positions.toSorted()).toEqual(positions)
  })
})
