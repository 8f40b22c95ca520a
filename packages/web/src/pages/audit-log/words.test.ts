import { expect, it } from 'vitest'
import { eventWords, valueText } from './words.ts'

it('says in words what happened', () => {
  expect(eventWords('OrganizationMemberUpdatedEvent')).toBe('Organization member updated')
  expect(eventWords('TeamCreatedEvent')).toBe('Team created')
})

it('shows values of every kind', () => {
  expect([null, 'a', 3, ['x']].map(valueText)).toEqual(['none', 'a', '3', '["x"]'])
})
