import { execFileSync, spawnSync } from 'node:child_process'
import { inspect } from 'node:util'
import { assert, array, nat, property, sample, string, stringMatching, tuple, uniqueArray } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { characterForms } from './encodings.ts'
import { createStartSearch } from './needle-search.ts'
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
  it('gives the same result wherever a stream is cut twice', () => {
    const needles = ['aab', 'abaab', 'baaba', 'bb'].map((value) => Buffer.from(value))
    for (const text of ['caabaababbc', 'abaabaabaab', 'aabc', 'bb', 'aaaaaa', '']) {
      const whole = Buffer.from(text)
      const expected = redactInPieces(whole, [], needles).toString()
      const places = Array.from({ length: whole.length + 1 }, (_, place) => place)
      for (const first of places) {
        for (const second of places) {
          expect(redactInPieces(whole, [first, second], needles).toString()).toBe(expected)
        }
      }
    }
  })

  // A failure prints its seed, which repeats it.
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
      { numRuns: 200 },
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

  it('leaves out only places where no secret begins', () => {
    const secrets = uniqueArray(stringMatching(/^[ab]{1,9}$/), { minLength: 1, maxLength: 5 })
    assert(
      property(secrets, stringMatching(/^[a-d]{0,60}$/), nat({ max: 60 }), (values, text, place) => {
        const from = Math.min(place, text.length)
        const search = createStartSearch(values.map((value) => Buffer.from(value)))
        const found = search.nextStart(Buffer.from(text), from)
        const mayBegin = (at: number) =>
          values.some((value) => text.slice(at).startsWith(value.slice(0, text.length - at)))
        const first = Array.from(text, (_, at) => at).find((at) => at >= from && mayBegin(at))
        expect(found).toBeGreaterThanOrEqual(from)
        expect(found).toBeLessThanOrEqual(first ?? text.length)
      }),
      {
        numRuns: 200,
        examples: [
          [['a'], '', 0],
          [['a'], 'a', 1],
          [['ab'], 'ca', 0],
          [['aaaaaaaaa'], 'caaaaaaaa', 0],
          [['aaaaaaaaa'], 'aaaaaaaaa', 0],
          [['b', 'ab'], 'ddab', 3],
        ],
      },
    )
    const skipsAll = createStartSearch([Buffer.from('hunter22')])
    expect(skipsAll.nextStart(Buffer.from('no such text in here'), 0)).toBe(20)
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

  it('encodes the characters of a plain token in no other way', () => {
    assert(
      property(stringMatching(/^[A-Za-z0-9._-]{6,40}$/), (token) => {
        expect(new Set(characterForms(token))).toEqual(new Set([token]))
      }),
    )
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

/** Written without any code of ours. Whatever stands around the secret has no letters: the test looks for the secret's. */
const ENCODERS: Readonly<Record<string, (text: string) => string>> = {
  JSON: (text) => JSON.stringify({ 1: text }),
  'JSON in JSON': (text) => JSON.stringify(JSON.stringify({ 1: text })),
  'JSON in ASCII': (text) =>
    JSON.stringify(text).replaceAll(
      /[\u0080-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  'JSON with escaped slashes': (text) => JSON.stringify(text).replaceAll('/', '\\/'),
  'an address': (text) => encodeURIComponent(text),
  'an address in lower case': (text) =>
    encodeURIComponent(text).replaceAll(/%../g, (escape) => escape.toLowerCase()),
  'a whole address': (text) => encodeURI(text),
  'a form': (text) => new URLSearchParams({ 1: text }).toString(),
  'source code': (text) => inspect(text),
  hexadecimal: (text) => Buffer.from(text).toString('hex'),
  'upper case hexadecimal': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  base64: (text) => Buffer.from(text).toString('base64'),
  'base64 for addresses': (text) => Buffer.from(text).toString('base64url'),
}

/** The texts as shells print them: quoted by printf, and traced by set -x. */
function inShells(texts: readonly string[]): string[] {
  const quoted = execFileSync('bash', ['-c', `printf '%q\\n' "$@"`, 'bash', ...texts])
  const traced = ['bash', 'dash', 'sh'].map((shell) => {
    const { stderr } = spawnSync(shell, ['-c', 'for text; do (set -x; : "$text"); done', shell, ...texts])
    return stderr?.toString() ?? ''
  })
  return [quoted.toString(), ...traced]
}

describe('abuse case R11: an encoded secret', () => {
  const secret = stringMatching(/^[A-Za-z]{3}[ -~äé]{4,30}[A-Za-z]{3}$/)
  const cuts = array(nat(), { maxLength: 8 })
  const byteByByte = Array.from({ length: 400 }, (_, place) => place)
  /** The shortest in all three places of base64, the longest, and all that some encoder escapes. */
  const boundaries = [
    'abc0000xyz',
    'abc00000xyz',
    'abc000000xyz',
    `abc${'~'.repeat(30)}xyz`,
    'abc    xyz',
    'abc\\"\'/$`xyz',
    'abc%&=+?#@:;<>xyz',
    'abcäéäéxyz',
    'abcabcabcabc',
  ]

  it.each(Object.entries(ENCODERS))('is hidden in %s, however the stream is cut', (_name, encode) => {
    assert(
      property(secret, cuts, (value, places) => {
        const encoded = encode(value)
        // No secret has these characters in it, so nothing around it looks like a part of one.
        const text = Buffer.from(`«${encoded}»`)
        const redacted = redactInPieces(text, places, needlesOf(value)).toString()
        expect(redacted).toContain('[REDACTED]')
        // The letters at both ends are never escaped, so of a secret that got through one end would be there.
        const rest = redacted.replaceAll('[REDACTED]', '')
        expect(rest).not.toContain(value.slice(0, 4))
        expect(rest).not.toContain(value.slice(-4))
        expect(redacted).toBe(redactInPieces(text, [], needlesOf(value)).toString())
      }),
      { numRuns: 40, examples: boundaries.map((value) => [value, byteByByte]) },
    )
  })

  it('is hidden in what shells quote and trace', () => {
    const seed = Math.trunc(Math.random() * 2 ** 31)
    const values = [
      ...sample(secret, { numRuns: 40, seed }),
      ...boundaries,
      `it's a "secret" with $dollar and \\ and \`tick\``,
      'two\nlines of text',
      '\ttab and\u001b[1m escape',
      '#begins with a comment',
      '~begins with a home',
      'a home:~behind a colon',
      'and=~behind an equals sign',
      'commas,and=equals{a,b}!',
    ]
    for (const text of inShells(values)) {
      const hidden = redactText(text, values.flatMap(needlesOf))
      for (const line of hidden.split('\n')) {
        expect(line, `seed ${seed}`).toMatch(/^(\++ : |\$?'|"|')*(\[REDACTED\]|['"$\\]|\++ : )*$/)
      }
    }
  })

  it('costs the same for each byte, however much of it looks like a secret', () => {
    const needle = Buffer.from(`${'a'.repeat(64 * 1024)}b`)
    const redactor = createRedactor()
    redactor.add([needle, ...Array.from({ length: 500 }, (_, n) => Buffer.from(`${'a'.repeat(300 + n)}c`))])
    const parts = Array.from({ length: 512 }, () => redactor.push(Buffer.alloc(4096, 'a')))
    const whole = Buffer.concat([...parts, redactor.push(Buffer.from('b!')), redactor.end()])
    expect(whole.length).toBe(512 * 4096 - 64 * 1024 + '[REDACTED]!'.length)
    expect(whole.subarray(-12).toString()).toBe('a[REDACTED]!')
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
