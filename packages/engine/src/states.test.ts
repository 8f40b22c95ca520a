import { describe, expect, it } from 'vitest'
import {
  assertBuildTransition,
  assertTransition,
  BUILD_STATES,
  isActive,
  isFinal,
  isFinalBuild,
  JOB_STATES,
  mayBuildFollow,
  mayFollow,
  shownBuildState,
  shownJobState,
} from './states.ts'

describe('job states', () => {
  it('are either final, active, or waiting for something above', () => {
    const rest = JOB_STATES.filter((state) => !isFinal(state) && !isActive(state))
    expect(rest).toEqual(['waiting', 'blocked'])
    expect(JOB_STATES.filter((state) => isFinal(state) && isActive(state))).toEqual([])
  })

  it('lead nowhere once final, but for jobs that did not run and triggers whose build is opened again', () => {
    const open = JOB_STATES.filter(isFinal).filter((from) => JOB_STATES.some((to) => mayFollow(from, to)))
    expect(new Set(open)).toEqual(new Set(['unblocked', 'waiting_failed', 'blocked_failed', 'failed']))
    expect(JOB_STATES.filter((to) => mayFollow('failed', to))).toEqual(['running'])
  })

  it('can all be reached from pending', () => {
    const reached = new Set(['pending'])
    for (const from of reached) {
      for (const to of JOB_STATES) if (mayFollow(from as (typeof JOB_STATES)[number], to)) reached.add(to)
    }
    expect([...reached].toSorted()).toEqual([...JOB_STATES].toSorted())
  })

  it('refuse an illegal move', () => {
    expect(() => assertTransition('passed', 'running')).toThrow('from passed to running')
    expect(() => assertTransition('running', 'passed')).not.toThrow()
  })

  it('hide what only the service knows', () => {
    expect(JOB_STATES.filter((state) => shownJobState(state) !== state)).toEqual(['limiting', 'reserved'])
    expect(shownJobState('limiting')).toBe('scheduled')
  })
})

describe('build states', () => {
  it('open again only after passing or failing', () => {
    const open = BUILD_STATES.filter(isFinalBuild).filter((from) =>
      BUILD_STATES.some((to) => mayBuildFollow(from, to)),
    )
    expect(open).toEqual(['passed', 'failed'])
    expect(() => assertBuildTransition('canceled', 'running')).toThrow('from canceled to running')
  })

  it('show what a blocked build counts as', () => {
    expect(shownBuildState('blocked', 'failed')).toBe('failed')
    expect(shownBuildState('creating', null)).toBe('scheduled')
    expect(shownBuildState('failing', null)).toBe('failing')
  })
})
