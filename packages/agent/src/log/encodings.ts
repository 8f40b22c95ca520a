// The encodings in which programs print a text: JSON, URL encoding, shell quoting, source code, HTML, hexadecimal, base64.

/** Characters that no encoding of characters changes. Most tokens consist of them. */
const PLAIN = /^[A-Za-z0-9._-]*$/

/** A form may equal the text or another form. */
export function encodingsOf(text: string): string[] {
  const bytes = Buffer.from(text)
  return [...(PLAIN.test(text) ? [] : characterForms(text)), ...hexForms(bytes), ...base64Forms(bytes)]
}

/** The encodings that replace single characters. */
export function characterForms(text: string): string[] {
  const json = jsonForms(text)
  return [
    ...json,
    // A text in JSON in JSON.
    ...json.flatMap((form) => JSON.stringify(form).slice(1, -1)),
    ...urlForms(text),
    ...shellForms(text),
    ...sourceForms(text),
    ...htmlForms(text),
  ]
}

const UNICODE_ESCAPE = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
const UPPER_UNICODE_ESCAPE = (unit: string) =>
  `\\u${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`

function jsonForms(text: string): string[] {
  const plain = JSON.stringify(text).slice(1, -1)
  const ascii = (form: string) => [
    form,
    form.replaceAll(/[\u0080-\uffff]/g, UNICODE_ESCAPE),
    form.replaceAll(/[\u0080-\uffff]/g, UPPER_UNICODE_ESCAPE),
  ]
  const html = plain.replaceAll(/[<>&\u2028\u2029]/g, UNICODE_ESCAPE)
  const cautious = Array.from(text, (character) =>
    /["<>&'+`]/.test(character) ? UPPER_UNICODE_ESCAPE(character) : JSON.stringify(character).slice(1, -1),
  ).join('')
  return [plain, plain.replaceAll('/', String.raw`\/`), html, cautious].flatMap(ascii)
}

/** Characters besides letters and digits that the encoders leave unchanged. */
const KEPT_IN_URLS = [
  /[A-Za-z0-9._~-]/,
  /[A-Za-z0-9._~!'()*-]/,
  /[A-Za-z0-9._~/-]/,
  /[A-Za-z0-9._*-]/,
  /[A-Za-z0-9._-]/,
  /[A-Za-z0-9._~!'()*;/?:@&=+$,#-]/,
]

function urlForms(text: string): string[] {
  const forms = KEPT_IN_URLS.flatMap((kept) => {
    const encode = (character: string) =>
      kept.test(character) ? character : percent(Buffer.from(character).toString('hex'))
    const upper = Array.from(text, encode)
    const lower = upper.map((form) => (form.startsWith('%') ? form.toLowerCase() : form))
    return [upper.join(''), lower.join('')]
  })
  return forms.flatMap((form) => [form, form.replaceAll('%20', '+')])
}

const percent = (hex: string) => hex.toUpperCase().replaceAll(/../g, '%$&')

/** The text between quotes, or with backslashes. */
function shellForms(text: string): string[] {
  return [
    text.replaceAll("'", String.raw`'\''`),
    text.replaceAll("'", `'"'"'`),
    text.replaceAll(/[\\"$`]/g, String.raw`\$&`),
    text.replaceAll(/[\\"$`!]/g, String.raw`\$&`),
    // printf %q, with the characters that only count at the beginning, and a tilde also behind a colon or an equals sign.
    text.replaceAll(/[ \t!"$&'()*,;<>?[\\\]^`{|}]|^[#~]|(?<=[:=])~/g, String.raw`\$&`),
    text.replaceAll(/[ \t!"$&'()*;<>?[\\\]^`{|}]|^[#~]|(?<=[:=])~/g, String.raw`\$&`),
    text.replaceAll(/[^\w.,:+/@%\n-]/g, String.raw`\$&`),
    text.replaceAll(/[^\w.,:+/@=%\n-]/g, String.raw`\$&`),
  ]
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': 'a',
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\v': 'v',
  '\f': 'f',
  '\r': 'r',
}

/** As `repr`, `inspect`, `%q` and the shell's `$'…'` write it. */
function sourceForms(text: string): string[] {
  const octal = (byte: number) => `\\${byte.toString(8).padStart(3, '0')}`
  const hex = (byte: number) => `\\x${byte.toString(16).padStart(2, '0')}`
  const forms: string[] = []
  for (const quoted of [/\\/, /[\\']/, /[\\"]/, /[\\"#]/, /[\\'"]/]) {
    for (const escapeByte of [octal, hex]) {
      for (const other of [/[\0-\x1f\x7f]/, /[\0-\x1f\x7f]|[^\0-\x7f]/u]) {
        forms.push(
          Array.from(text, (character) => {
            if (quoted.test(character)) return `\\${character}`
            if (!other.test(character)) return character
            const escape = ESCAPES[character]
            if (escape !== undefined) return `\\${escape}`
            return Array.from(Buffer.from(character), escapeByte).join('')
          }).join(''),
        )
      }
    }
  }
  return [
    ...forms,
    ...forms.flatMap((form) => [
      form.replaceAll(String.raw`\033`, String.raw`\E`),
      form.replaceAll(String.raw`\x1b`, String.raw`\e`),
    ]),
  ]
}

function htmlForms(text: string): string[] {
  const basic = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const quoted = [basic, basic.replaceAll('"', '&quot;'), basic.replaceAll('"', '&#34;')]
  return quoted.flatMap((form) => [
    form,
    ...['&#39;', '&#x27;', '&apos;', '&#039;'].map((mark) => form.replaceAll("'", mark)),
  ])
}

/** Where programs that show bytes break their lines, in bytes: `xxd -p`, `od`, `hexdump -C`. */
const PLAIN_HEX_LINE = 30
const SPACED_HEX_LINES = [16, 8]

function hexForms(bytes: Buffer): string[] {
  const plain = bytes.toString('hex')
  const pairs = plain.match(/../g) ?? []
  const spaced = SPACED_HEX_LINES.flatMap((width) => pieces(pairs, width).map((piece) => piece.join(' ')))
  const lower = [
    plain,
    ...pieces(pairs, PLAIN_HEX_LINE).map((piece) => piece.join('')),
    pairs.join(' '),
    pairs.join(':'),
    ...spaced,
    ...pieces(pairs, 16).map((piece) => (piece.join('').match(/.{1,4}/g) ?? []).join(' ')),
  ]
  const each = [String.raw`\x`, '%', '0x'].flatMap((sign) => {
    const separator = sign === '0x' ? ', ' : ''
    return [pairs.map((pair) => `${sign}${pair}`), pairs.map((pair) => `${sign}${pair.toUpperCase()}`)].map(
      (signed) => signed.join(separator),
    )
  })
  return [...lower, ...lower.map((form) => form.toUpperCase()), ...each]
}

/** The last piece of a wrapped list may be too short to identify the value. */
function pieces(pairs: readonly string[], width: number): string[][] {
  const cut: string[][] = []
  for (let at = 0; at < pairs.length; at += width) cut.push(pairs.slice(at, at + width))
  return cut.filter(({ length }) => length >= LEAST_PIECE_BYTES)
}

const LEAST_PIECE_BYTES = 6

/** Where encoders break their lines, in characters. */
const BASE64_LINES = [64, 76]

function base64Forms(bytes: Buffer): string[] {
  const whole = bytes.toString('base64')
  const forms = [whole, whole.replace(/=+$/, ''), ...insideBase64(bytes)]
  for (const width of BASE64_LINES) {
    if (whole.length > width) forms.push(...(whole.match(new RegExp(`.{1,${width}}`, 'g')) ?? []))
  }
  const kept = forms.filter((form) => form.length >= LEAST_PIECE_BYTES)
  return kept.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')])
}

/** The characters that stay the same wherever the value stands inside a longer text that is encoded as a whole. */
function insideBase64(bytes: Buffer): string[] {
  return [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
    const steadyFrom = [0, 2, 3][shift] ?? 0
    const steadyTo = Math.floor(((shift + bytes.length) * 8) / 6)
    return encoded.slice(steadyFrom, steadyTo)
  })
}
