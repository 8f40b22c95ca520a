import { expect, it } from 'vitest'
import { orderAgents, stateOf } from './agent-state.ts'

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
