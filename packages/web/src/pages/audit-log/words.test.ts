import { expect, it } from 'vitest'
import { changesOf, eventWords, valueText } from './words.ts'

it('says in words what happened', () => {
  expect(eventWords('OrganizationMemberUpdatedEvent')).toBe('Organization member updated')
  expect(eventWords('ApiAccessTokenCreatedEvent')).toBe('API access token created')
  expect(eventWords('TeamCreatedEvent')).toBe('Team created')
})

it('shows values of every kind', () => {
  expect([null, '', 'a', 3, ['x']].map(valueText)).toEqual(['none', 'none', 'a', '3', '["x"]'])
})

it('tells what an update changed, and what something was made with', () => {
  expect(changesOf({ name: 'New', is_renamed: true, previous: { name: 'Old' } })).toEqual([
    { name: 'name', before: 'Old', after: 'New' },
    { name: 'is_renamed', before: undefined, after: true },
  ])
  expect(changesOf({ name: 'New' })).toEqual([{ name: 'name', before: undefined, after: 'New' }])
})
