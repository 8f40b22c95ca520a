import { expect, it } from 'vitest'
import { isLatelyLost, orderAgents, stateOf } from './agent-state.ts'

const agent = (name: string, connection_state: 'connected' | 'lost' | 'stopped', isPaused = false) => ({
  name,
  connection_state,
  paused: isPaused,
  job: null,
})

it('shows lost agents first and stopped ones last, the rest by name', () => {
  const rows = [
    agent('a10', 'connected'),
    agent('gone', 'stopped'),
    agent('a9', 'connected'),
    agent('z', 'lost'),
  ]
  expect(orderAgents(rows).map(({ name }) => name)).toEqual(['z', 'a9', 'a10', 'gone'])
})

it('shows a connected agent as paused, but a lost one as lost', () => {
  expect(stateOf(agent('a', 'connected', true)).state).toBe('paused')
  expect(stateOf(agent('a', 'lost', true)).state).toBe('lost')
})

it('counts an agent as lately lost for a day', () => {
  const nowMs = Date.parse('2026-05-03T12:00:00Z')
  expect(isLatelyLost({ lost_at: '2026-05-03T08:00:00Z' }, nowMs)).toBe(true)
  expect(isLatelyLost({ lost_at: '2026-05-02T08:00:00Z' }, nowMs)).toBe(false)
  expect(isLatelyLost({ lost_at: null }, nowMs)).toBe(false)
})
