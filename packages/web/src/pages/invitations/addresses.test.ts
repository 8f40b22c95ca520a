import { expect, it } from 'vitest'
import { readAddresses } from './addresses.ts'

it('reads pasted addresses, each once', () => {
  expect(readAddresses(' ada@example.com, bob@example.com;\nada@example.com\n')).toEqual([
    'ada@example.com',
    'bob@example.com',
  ])
  expect(readAddresses(' \n')).toEqual([])
})
