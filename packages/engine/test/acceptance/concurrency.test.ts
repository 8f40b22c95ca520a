import { describe, expect, it } from 'vitest'
import { matchesAgent } from '../../src/agents.ts'
import { decideGroupSlots } from '../../src/memory/slots.ts'
import { mustRead } from '../reading.ts'
import { Run } from '../running.ts'

const GATE = `
steps:
  - {command: open, concurrency: 1, concurrency_group: gate}
  - wait
  - {command: work}
  - wait
  - {command: close, concurrency: 1, concurrency_group: gate}
`

function twoBuilds(yaml: string): { one: Run; two: Run; decide: () => void } {
  const one = new Run(mustRead(yaml), {}, 'one-')
  const two = new Run(mustRead(yaml), {}, 'two-')
  const decide = (): void => decideGroupSlots([one.build, two.build], 'gate', one.now())
  decide()
  return { one, two, decide }
}

describe('E35 ordered concurrency is a gate', () => {
  it('lets build 2 in only after build 1 has closed', () => {
    const { one, two, decide } = twoBuilds(GATE)
    expect([one.states['open'], two.states['open']]).toEqual(['scheduled', 'limited'])
    one.pass('open')
    decide()
    expect([one.states['close'], two.states['open']]).toEqual(['waiting', 'limited'])
    one.pass('work')
    decide()
    expect([one.states['close'], two.states['open']]).toEqual(['scheduled', 'limited'])
    one.pass('close')
    decide()
    expect(two.states['open']).toBe('scheduled')
  })

  it('opens the gate when build 1 fails in between', () => {
    const { one, two, decide } = twoBuilds(GATE)
    one.pass('open')
    one.exit('work', 1)
    decide()
    expect([one.states['close'], two.states['open']]).toEqual(['waiting_failed', 'scheduled'])
  })

  it('lets build 2 pass while build 1 is held by a person', () => {
    const { one, two, decide } = twoBuilds(GATE.replace('- wait', '- block: go'))
    expect(one.states['close']).toBe('blocked')
    one.pass('open')
    decide()
    expect(two.states['open']).toBe('scheduled')
  })
})

describe('E36 eager and priority', () => {
  it('starts the highest priority first', () => {
    const build = new Run(
      mustRead(`
steps:
  - {command: low, concurrency: 1, concurrency_group: g, concurrency_method: eager, priority: 0}
  - {command: high, concurrency: 1, concurrency_group: g, concurrency_method: eager, priority: 5}
  - {command: mid, concurrency: 1, concurrency_group: g, concurrency_method: eager, priority: 1}
`),
    )
    const order: string[] = []
    for (let turn = 0; turn < 3; turn += 1) {
      decideGroupSlots([build.build], 'g', build.now())
      const next = build.named().find(([, job]) => job.state === 'scheduled')
      if (next === undefined) throw new Error('Nothing was started')
      order.push(next[0])
      build.pass(next[0])
    }
    expect(order).toEqual(['high', 'mid', 'low'])
  })

  it('gives an uploaded job the time of its uploader', () => {
    const build = new Run(mustRead('steps: [{command: u}]'))
    build.start('u')
    build.upload('u', 'steps: [{command: late}]')
    expect(build.job('late').scheduledAt).toBe(build.job('u').scheduledAt)
    expect(build.job('late').createdAt > build.job('u').createdAt).toBe(true)
  })

  it('does not match an agent that lacks a tag', () => {
    expect(matchesAgent(['queue=q', 'os=*'], ['queue=q'])).toBe(false)
  })
})
