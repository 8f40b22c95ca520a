import { expect, it } from 'vitest'
import { resumeRow } from './stream.ts'

it('asks again for the rows that a cursor can still reach', () => {
  expect(resumeRow(0)).toBe(1)
  expect(resumeRow(50)).toBe(1)
  expect(resumeRow(1000)).toBe(901)
})
