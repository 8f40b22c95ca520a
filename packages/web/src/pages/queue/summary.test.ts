import { expect, it } from 'vitest'
import { summaryOf } from './summary.ts'

const metrics = { waiting: 5, busy: 1, connected: 2, wait_p50_seconds: null, wait_p95_seconds: null }
const agent = (state: string, job: object | null = null) => ({ connection_state: state, job })
const none = { waiting: undefined, agents: undefined, hasMoreAgents: false, metricsAtMs: 100 }
const rows = [{ position: 1 }, { position: 2 }]

it('says what the server counted until the lists are there, and while they have more rows', () => {
  expect(summaryOf(metrics, none)).toBe('5 waiting · 1 of 2 busy')
  const more = {
    ...none,
    waiting: { rows, hasMore: true, atMs: 200 },
    agents: [agent('connected')],
    hasMoreAgents: true,
  }
  expect(summaryOf(metrics, more)).toBe('5 waiting · 1 of 2 busy')
})

it('agrees with the rows of whole lists', () => {
  const lists = {
    ...none,
    waiting: { rows, hasMore: false, atMs: 200 },
    agents: [agent('lost', {}), agent('connected', {}), agent('stopping', {}), agent('connected')],
  }
  expect(summaryOf(metrics, lists)).toBe('2 waiting · 2 of 3 busy')
  expect(summaryOf({ ...metrics, waiting: 1 }, { ...lists, metricsAtMs: 300 })).toBe(
    '2 waiting · 2 of 3 busy',
  )
})

it('counts jobs that are not listed for this person', () => {
  const between = { rows: [{ position: 1 }, { position: 3 }], hasMore: false, atMs: 200 }
  expect(summaryOf(metrics, { ...none, waiting: between })).toMatch(/^5 waiting/)
  const atTheEnd = { rows, hasMore: false, atMs: 200 }
  expect(summaryOf(metrics, { ...none, waiting: atTheEnd, metricsAtMs: 201 })).toMatch(/^5 waiting/)
})
