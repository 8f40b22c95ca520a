import { describe, expect, it } from 'vitest'
import { hashPassword, hashToVerify, isPassword, passwordProblem } from './passwords.ts'

/** Algorithm, version and cost, without salt and hash. */
const workOf = (stored: string) => stored.split('$').slice(0, 4).join('$')

describe('a password', () => {
  it('is verified against its hash', async () => {
    const stored = await hashPassword('correct horse')
    expect(stored).toMatch(/^\$argon2id\$/)
    expect(await isPassword(stored, 'correct horse')).toBe(true)
    expect(await isPassword(stored, 'correct horse ')).toBe(false)
  })

  it('takes the same work where none is stored, and is always wrong', async () => {
    expect(workOf(hashToVerify(null))).toBe(workOf(await hashPassword('anything')))
    expect(await isPassword(null, 'anything')).toBe(false)
    expect(await isPassword(null, '')).toBe(false)
  })

  it('has 8 to 500 characters', () => {
    expect(passwordProblem('1234567')).toContain('at least 8')
    expect(passwordProblem('12345678')).toBeNull()
    expect(passwordProblem('x'.repeat(501))).toContain('at most 500')
  })
})
