import { expect, it } from 'vitest'
import { stepsOf } from './steps.ts'

const start = { hasAgent: false, demoBuild: null, hasDemo: true, hasOwnPipeline: false }
const done = (facts: Parameters<typeof stepsOf>[0]) => stepsOf(facts).map(({ isDone }) => isDone)

it('ticks each step when what it asks for is there', () => {
  expect(done(start)).toEqual([false, false, false])
  expect(done({ ...start, hasAgent: true })).toEqual([true, false, false])
  expect(done({ ...start, hasAgent: true, demoBuild: { number: 1, state: 'running' } })).toEqual([
    true,
    false,
    false,
  ])
  expect(done({ ...start, demoBuild: { number: 1, state: 'passed' }, hasOwnPipeline: true })).toEqual([
    false,
    true,
    true,
  ])
})

it('leaves out the demo where its pipeline was deleted', () => {
  expect(stepsOf({ ...start, hasDemo: false }).map(({ id }) => id)).toEqual(['agent', 'pipeline'])
})
