import { expect, it } from 'vitest'
import { findMissing, firstAnswers, type ManualField } from './unblock-answers.ts'

const common = { hint: null, required: true }
const options = ['a', 'b'].map((value) => ({ label: value, value, hint: null, required: null }))
const fields: ManualField[] = [
  { ...common, kind: 'text', key: 'name', label: 'Name', default: null, format: null },
  { ...common, kind: 'text', key: 'note', label: 'Note', default: 'x', format: null, required: false },
  { ...common, kind: 'select', key: 'one', label: 'One', multiple: false, default: ['b'], options },
  { ...common, kind: 'select', key: 'many', label: 'Many', multiple: true, default: [], options },
]

it('begins with the defaults', () => {
  expect(firstAnswers(fields)).toEqual({ name: '', note: 'x', one: 'b', many: [] })
})

it('finds the required fields without an answer', () => {
  expect(findMissing(fields, firstAnswers(fields))).toEqual({
    name: 'Name is required.',
    many: 'Many is required.',
  })
  expect(findMissing(fields, { name: 'n', note: '', one: 'a', many: ['a'] })).toEqual({})
})
