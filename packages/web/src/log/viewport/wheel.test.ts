import { describe, expect, it } from 'vitest'
import { WheelTrace } from './wheel.ts'

describe('WheelTrace', () => {
  it('explains what the notches of the last moment add up to, and no more', () => {
    const trace = new WheelTrace()
    expect(trace.explains(1, 0)).toBe(false)
    for (let at = 0; at < 90; at++) trace.notch({ deltaY: -100, deltaMode: 0 }, 800, 1000 + at)
    expect(trace.explains(-9000, 1200)).toBe(true)
    expect(trace.explains(-9001, 1200)).toBe(false)
    expect(trace.explains(-100, 2000)).toBe(false)
  })

  it('begins anew after a pause, and knows lines and pages', () => {
    const trace = new WheelTrace()
    trace.notch({ deltaY: 5000, deltaMode: 0 }, 800, 1000)
    trace.notch({ deltaY: 3, deltaMode: 1 }, 800, 2000)
    expect(trace.explains(120, 2001)).toBe(true)
    expect(trace.explains(121, 2001)).toBe(false)
    trace.notch({ deltaY: 1, deltaMode: 2 }, 800, 2002)
    expect(trace.explains(920, 2003)).toBe(true)
  })
})
