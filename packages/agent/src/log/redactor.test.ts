import { assert, array, nat, property, string, stringMatching, tuple, uniqueArray } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRedactor, redactText } from './redactor.ts'
import { needlesOf, REDACTED_VARIABLES, secretValues } from './secrets.ts'

function redactInPieces(text: Buffer, cuts: readonly number[], needles: readonly Buffer[]) {
  const redactor = createRedactor()
  redactor.add(needles)
  const places = cuts.map((cut) => cut % (text.length + 1)).toSorted((a, b) => a - b)
  const parts: Buffer[] = []
  let from = 0
  for (const place of [...places, text.length]) {
    parts.push(redactor.push(text.subarray(from, place)))
    from = place
  }
  return Buffer.concat([...parts, redactor.end()])
}

describe('redactor', () => {
  it('gives the same result however the stream is cut', () => {
    const secrets = uniqueArray(stringMatching(/^[ab]{2,6}$/), { minLength: 1, maxLength: 4 })
    const text = array(stringMatching(/^[abc]{0,8}$/), { maxLength: 12 })
    assert(
      property(secrets, text, array(nat(), { maxLength: 12 }), (values, words, cuts) => {
        const needles = values.map((value) => Buffer.from(value))
        const whole = Buffer.from(words.join(''))
        const expected = redactInPieces(whole, [], needles).toString()
        expect(redactInPieces(whole, cuts, needles).toString()).toBe(expected)
      }),
      { numRuns: 2000 },
    )
  })

  it('lets nothing of a secret through, and everything else', () => {
    assert(
      property(
        stringMatching(/^[x-z]{6,12}$/),
        tuple(string(), string()),
        nat(),
        (secret, [before, after], cut) => {
          const text = Buffer.from(
            `${before.replaceAll(/[x-z]/g, '')}${secret}${after.replaceAll(/[x-z]/g, '')}`,
          )
          const redacted = redactInPieces(text, [cut], [Buffer.from(secret)]).toString()
          expect(redacted).toBe(text.toString().replace(secret, () => '[REDACTED]'))
        },
      ),
    )
  })

  it('holds back only what could still become a secret', () => {
    const redactor = createRedactor()
    redactor.add([Buffer.from('hunter22')])
    expect(redactor.push(Buffer.from('plain line\n')).toString()).toBe('plain line\n')
    expect(redactor.push(Buffer.from('pass hunt')).toString()).toBe('pass ')
    expect(redactor.push(Buffer.from('ing')).toString()).toBe('hunting')
  })

  it('makes one mark of secrets that overlap, in bounded memory', () => {
    const redactor = createRedactor()
    redactor.add([Buffer.from('aaaaaa')])
    const parts = Array.from({ length: 500 }, () => redactor.push(Buffer.from('aaaa')))
    const whole = Buffer.concat([...parts, redactor.push(Buffer.from('!')), redactor.end()]).toString()
    expect(whole).toBe('[REDACTED]!')
    expect(parts.slice(2).every((part) => part.length === 0)).toBe(true)
  })
})

describe('needlesOf', () => {
  const hide = (text: string, secret: string) => redactText(text, needlesOf(secret))

  it('finds a value anywhere inside base64, whatever stands around it', () => {
    assert(
      property(
        stringMatching(/^[ -~]{8,40}$/),
        string({ maxLength: 20 }),
        string({ maxLength: 20 }),
        (secret, a, b) => {
          const encoded = Buffer.from(`${a}${secret}${b}`).toString('base64')
          expect(hide(encoded, secret)).toContain('[REDACTED]')
        },
      ),
    )
  })

  it('finds a value in base64 that is broken into lines', () => {
    const secret = 'a long secret value that an encoder would break into several lines, because it does that'
    const wrapped = Buffer.from(secret).toString('base64').replaceAll(/.{76}/g, '$&\n')
    expect(hide(wrapped, secret)).toBe('[REDACTED]\n[REDACTED]')
  })

  it('finds each line of a value of several lines', () => {
    const key = '-----BEGIN KEY-----\r\nMIIBOgIBAAJBAK\r\nabc\r\n-----END KEY-----\r\n'
    expect(hide('  MIIBOgIBAAJBAK\n  abc\n', key)).toBe('  [REDACTED]\n  abc\n')
  })

  it('leaves values shorter than 6 bytes alone', () => {
    expect(needlesOf('12345')).toEqual([])
    expect(hide('1234567', '123456')).toBe('[REDACTED]7')
  })
})

describe('secretValues', () => {
  it('takes the values of variables by the ends of their names', () => {
    const env = {
      DB_PASSWORD: 'one',
      PASSWORD_HINT: 'two',
      GH_TOKEN: 'three',
      PATH: 'four',
      EMPTY_SECRET: undefined,
    }
    expect(secretValues(env, REDACTED_VARIABLES)).toEqual(['one', 'three'])
  })
})
