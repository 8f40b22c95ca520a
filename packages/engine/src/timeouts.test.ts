import { describe, expect, it } from 'vitest'
import { timeoutMinutes } from './timeouts.ts'

const none = {
  pipelineDefaultMinutes: null,
  organizationDefaultMinutes: null,
  pipelineMaximumMinutes: null,
  organizationMaximumMinutes: null,
}

describe('timeoutMinutes', () => {
  it('takes the step, then the pipeline, then the organization', () => {
    const defaults = { ...none, pipelineDefaultMinutes: 20, organizationDefaultMinutes: 30 }
    expect(timeoutMinutes(10, defaults)).toBe(10)
    expect(timeoutMinutes(null, defaults)).toBe(20)
    expect(timeoutMinutes(null, { ...defaults, pipelineDefaultMinutes: null })).toBe(30)
    expect(timeoutMinutes(null, none)).toBeNull()
  })

  it('stays under both maxima, which are also the limit of a job without one', () => {
    const maxima = { ...none, pipelineMaximumMinutes: 60, organizationMaximumMinutes: 40 }
    expect(timeoutMinutes(90, maxima)).toBe(40)
    expect(timeoutMinutes(15, maxima)).toBe(15)
    expect(timeoutMinutes(null, maxima)).toBe(40)
  })
})
