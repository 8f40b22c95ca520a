import { describe, expect, it } from 'vitest'
import { requireEmail } from './email.ts'

describe('requireEmail', () => {
  it.each([
    'a@b.c',
    'ada.lovelace+ci@mail.example.com',
    'root@localhost',
    "o'neil@example.com",
    'jörg@müller.de',
  ])('accepts %s', (email) => {
    expect(() => requireEmail(email)).not.toThrow()
  })

  it.each([
    '',
    'ada',
    '@b.c',
    'a@',
    'a@b@c',
    'a b@c.d',
    'a@b c',
    'a@b.c\r\n',
    '"a"@b.c',
    'a@b.',
    'a@.b',
    'a@[::1]',
  ])('refuses %j', (email) => {
    expect(() => requireEmail(email)).toThrow('is not an e-mail address')
  })

  it('refuses what is too long, and repeats only its beginning', () => {
    expect(() => requireEmail(`${'a'.repeat(1000)}@b.c`)).toThrow(/^Validation failed: "a{254}" is not/)
  })
})
