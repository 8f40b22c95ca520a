import { expect, it } from 'vitest'
import { walk } from './graph-walk.ts'
import { layOut } from './layout.ts'
import { sampleGraph, sampleStep } from '../../../test/sample-graph.ts'

const edges: Array<[string, string]> = [
  ['build', 'test'],
  ['build', 'lint'],
  ['test', 'wait'],
  ['lint', 'wait'],
  ['wait', 'ship'],
]

it('follows edges along the graph and neighbours across it', () => {
  const layout = layOut({ ...sampleGraph(edges, [], { wait: 'wait' }), folded: [], direction: 'right' })
  expect(walk(layout, 'right', 'build', 'ArrowRight')).toBe('test')
  expect(walk(layout, 'right', 'test', 'ArrowDown')).toBe('lint')
  expect(walk(layout, 'right', 'test', 'ArrowUp')).toBeNull()
  expect(walk(layout, 'right', 'lint', 'ArrowRight')).toBe('wait')
  expect(walk(layout, 'right', 'ship', 'ArrowLeft')).toBe('wait')
  expect(walk(layout, 'right', 'ship', 'ArrowRight')).toBeNull()
})

it('turns the arrows when the graph runs down', () => {
  const layout = layOut({ ...sampleGraph(edges, [], { wait: 'wait' }), folded: [], direction: 'down' })
  expect(walk(layout, 'down', 'build', 'ArrowDown')).toBe('test')
  expect(walk(layout, 'down', 'test', 'ArrowRight')).toBe('lint')
})

it('enters and leaves an open group', () => {
  const steps = [
    sampleStep('a'),
    sampleStep('g', { kind: 'group' }),
    sampleStep('b', { group_id: 'g' }),
    sampleStep('c', { group_id: 'g' }),
    sampleStep('d'),
  ]
  const layout = layOut({
    steps,
    edges: [
      ['a', 'b'],
      ['b', 'c'],
      ['g', 'd'],
    ],
    folded: [],
    direction: 'right',
  })
  const path = ['a']
  for (let next: string | null = 'a'; next !== null;) {
    next = walk(layout, 'right', next, 'ArrowRight')
    if (next !== null) path.push(next)
  }
  expect(path).toEqual(['a', 'b', 'c', 'd'])
})
