import { expect, it } from 'vitest'
import { readKeys, writeKeys } from './keys.ts'

const key = { kty: 'OKP', crv: 'Ed25519', x: 'a' }

it('reads a set of keys, and one key', () => {
  expect(readKeys(writeKeys({ keys: [key] }))).toEqual({ keys: [key] })
  expect(readKeys(JSON.stringify(key))).toEqual({ keys: [key] })
})

it('knows that none are given', () => {
  expect(readKeys(' \n')).toBeNull()
  expect(writeKeys(null)).toBe('')
})

it.each(['{', '[]', '"x"', '{"keys":[]}', '{"keys":[1]}', '{"keys":"x"}'])('cannot read %s', (text) => {
  expect(readKeys(text)).toBeUndefined()
})
