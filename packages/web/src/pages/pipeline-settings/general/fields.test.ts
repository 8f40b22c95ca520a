import { expect, it } from 'vitest'
import { changeOf, problemIn, readTags, type Fields } from './fields.ts'

const fields: Fields = {
  name: 'App',
  slug: 'app',
  description: '',
  emoji: '',
  color: '',
  tags: '',
  cluster_id: '',
  visibility: 'private',
  default_command_step_timeout: null,
  maximum_command_step_timeout: null,
  env: null,
}

it('keeps the address when only the name is changed', () => {
  expect(changeOf({ name: 'Other' }, fields)).toEqual({ name: 'Other', slug: 'app' })
  expect(changeOf({ emoji: ':tada:' }, fields)).toEqual({ emoji: ':tada:' })
})

it('reads tags and variables as they are typed', () => {
  expect(readTags(' backend, payments,,backend ')).toEqual(['backend', 'payments'])
  expect(changeOf({ tags: '', env: 'A=1' }, fields)).toEqual({ tags: [], env: { A: '1' } })
})

it('says why it cannot be saved', () => {
  expect(problemIn({ ...fields, env: 'nothing' })).toBe('Line 1 is not of the form NAME=value.')
  const timeouts = { default_command_step_timeout: 9, maximum_command_step_timeout: 8 }
  expect(problemIn({ ...fields, ...timeouts })).toBe('The timeout of steps is longer than the longest one.')
  expect(problemIn(fields)).toBeUndefined()
})
