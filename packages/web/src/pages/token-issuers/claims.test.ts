import { expect, it } from 'vitest'
import { readClaims, writeClaims } from './claims.ts'

it('reads what it writes', () => {
  const claims = { sub: ['repo:acme/app:ref:refs/heads/main', 'a = b'], environment: ['production'] }
  expect(readClaims(writeClaims(claims))).toEqual(claims)
})

it('ignores empty lines and spaces around', () => {
  expect(readClaims('\n sub=release-server \n\n')).toEqual({ sub: ['release-server'] })
})

it.each(['', 'sub', '= x', 'sub = ', 'two words = x'])('says what is wrong with “%s”', (text) => {
  expect(readClaims(text)).toMatch(/sub = release-server/)
})
