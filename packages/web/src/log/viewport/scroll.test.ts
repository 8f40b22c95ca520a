import { describe, expect, it } from 'vitest'
import { moveTo, mostSpacer, mostTop, scrolled, alignThumb, spacerOf, type ScrollState } from './scroll.ts'

const aLog = (rows: number): ScrollState => ({ height: rows * 20, view: 800, top: 0, scrollTop: 0 })
const large = aLog(3_000_000)
const mostScrollTop = (state: ScrollState) => spacerOf(state.height) - state.view

describe('scrolling', () => {
  it('leaves short logs to the browser', () => {
    expect(scrolled(aLog(1000), 1234, 'unknown')).toMatchObject({ top: 1234, scrollTop: 1234 })
    expect(spacerOf(aLog(1000).height)).toBe(20_000)
  })

  it('never makes an element higher than browsers allow', () => {
    expect(spacerOf(large.height)).toBe(mostSpacer)
  })

  it('moves a notch as far in a large log as in a short one, wherever it is', () => {
    for (const top of [0, 500, 19_990, 1_000_000, 30_000_000, 59_000_000]) {
      const state = moveTo(large, top)
      expect(scrolled(state, state.scrollTop + 100, 'wheel').top - top).toBe(100)
    }
  })

  it('takes many notches of one frame for what they are', () => {
    const state = moveTo(large, 30_000_000)
    expect(scrolled(state, state.scrollTop - 9000, 'wheel').top).toBe(30_000_000 - 9000)
    expect(scrolled(state, state.scrollTop - 9000, 'unknown').top).toBeLessThan(30_000_000 - 60_000)
  })

  it('reaches the very ends by the thumb', () => {
    const end = scrolled(large, mostScrollTop(large), 'unknown')
    expect(end.top).toBe(mostTop(large))
    expect(scrolled(end, 0, 'unknown').top).toBe(0)
  })

  it('maps the middle of the thumb to the middle of the log', () => {
    const middle = scrolled(large, mostScrollTop(large) / 2, 'unknown')
    expect(middle.top).toBeCloseTo(mostTop(large) / 2, -1)
    expect(alignThumb(middle).scrollTop).toBeCloseTo(mostScrollTop(large) / 2, -1)
  })

  it('reaches both ends by notches alone', () => {
    let state = moveTo(large, 50_000)
    for (let notch = 0; notch < 520; notch++) {
      state = scrolled(state, Math.max(0, state.scrollTop - 100), 'wheel')
      if (notch % 40 === 0) state = alignThumb(state)
    }
    expect(state).toMatchObject({ top: 0, scrollTop: 0 })
    state = moveTo(large, mostTop(large) - 50_000)
    for (let notch = 0; notch < 520; notch++) {
      state = scrolled(state, Math.min(mostScrollTop(large), state.scrollTop + 100), 'wheel')
    }
    expect(state).toMatchObject({ top: mostTop(large), scrollTop: mostScrollTop(large) })
  })

  it('aligns the thumb without moving the log', () => {
    let state = moveTo(large, 30_000_000)
    state = scrolled(state, state.scrollTop + 900, 'unknown')
    expect(alignThumb(state).top).toBe(state.top)
    expect(alignThumb(state).scrollTop).toBeLessThan(state.scrollTop)
  })
})
