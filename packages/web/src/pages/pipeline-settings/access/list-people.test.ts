import { expect, it } from 'vitest'
import { listPeople } from './list-people.ts'

const ada = { user_id: '1', user_name: 'Ada' }
const bob = { user_id: '2', user_name: 'Bob' }
const eve = { user_id: '3', user_name: 'Eve' }

it('gives everybody the most that one of their teams gives', () => {
  const people = listPeople(
    [{ id: '3', name: 'Eve' }],
    [
      { name: 'Readers', level: 'read_only', members: [ada, bob, eve] },
      { name: 'Builders', level: 'build_and_read', members: [bob] },
      { name: 'Makers', level: 'build_and_read', members: [bob] },
    ],
  )
  expect(people).toEqual([
    { id: '1', name: 'Ada', level: 'read_only', through: ['Readers'] },
    { id: '2', name: 'Bob', level: 'build_and_read', through: ['Builders', 'Makers'] },
    { id: '3', name: 'Eve', level: 'admin', through: [] },
  ])
})
