import { expect, it } from 'vitest'
import { changedFields } from './use-draft.ts'

const stored = { name: 'Acme', ranges: ['10.0.0.0/8'], days: null as number | null }

it('sends only fields that differ from what is stored', () => {
  expect(changedFields(stored, { name: 'Acme', ranges: ['10.0.0.0/8'] })).toEqual({})
  expect(changedFields(stored, { name: 'Other', days: 30 })).toEqual({ name: 'Other', days: 30 })
})

it('sends null, which takes a setting back', () => {
  expect(changedFields<{ days: number | null }>({ days: 30 }, { days: null })).toEqual({ days: null })
})
