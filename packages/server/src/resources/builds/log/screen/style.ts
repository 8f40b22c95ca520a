// The text styles of terminals. A style is a list of words, such as `fg1 bg#102030 bold`; plain text has the empty style.

interface Style {
  text: string
  background: string
  /** Words of `flagWords`. */
  flags: ReadonlySet<string>
}

const flagWords = ['bold', 'dim', 'italic', 'underline', 'inverse', 'strike'] as const

const flagsByCode: Readonly<Record<number, string>> = {
  1: 'bold',
  2: 'dim',
  3: 'italic',
  4: 'underline',
  7: 'inverse',
  9: 'strike',
}
const endedByCode: Readonly<Record<number, readonly string[]>> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  27: ['inverse'],
  29: ['strike'],
}

/** The styles that follow each style, by parameters. */
const remembered = new Map<string, Map<string, string>>()
const mostRemembered = 500

/** The style after the parameters of an SGR sequence, such as `1;31`. */
export function restyle(style: string, parameters: string): string {
  const following = remembered.get(style) ?? remember(remembered, style, new Map<string, string>())
  return (
    following.get(parameters) ??
    remember(following, parameters, wordsOf(change(parseStyle(style), numbersOf(parameters))))
  )
}

function remember<Value>(known: Map<string, Value>, key: string, value: Value): Value {
  if (known.size >= mostRemembered) known.clear()
  known.set(key, value)
  return value
}

/** Large numbers mean nothing to terminals. */
export const numbersOf = (parameters: string): number[] =>
  parameters.split(';').map((text) => Math.min(Number(text) || 0, 100_000))

function parseStyle(words: string): Style {
  const style = { text: '', background: '', flags: new Set<string>() }
  for (const word of words.split(' ')) {
    if (word.startsWith('fg')) style.text = word.slice(2)
    else if (word.startsWith('bg')) style.background = word.slice(2)
    else if (word !== '') style.flags.add(word)
  }
  return style
}

const wordsOf = ({ text, background, flags }: Style): string =>
  [
    ...(text === '' ? [] : [`fg${text}`]),
    ...(background === '' ? [] : [`bg${background}`]),
    ...flagWords.filter((word) => flags.has(word)),
  ].join(' ')

function change(before: Style, codes: readonly number[]): Style {
  let style = before
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0
    const flag = flagsByCode[code]
    const ended = endedByCode[code]
    if (code === 0) style = { text: '', background: '', flags: new Set() }
    else if (flag !== undefined) style = { ...style, flags: new Set([...style.flags, flag]) }
    else if (ended !== undefined)
      style = { ...style, flags: new Set([...style.flags].filter((word) => !ended.includes(word))) }
    else if (code === 38 || code === 48) {
      const { color, length } = extendedColor(codes, at + 1)
      style = code === 38 ? { ...style, text: color } : { ...style, background: color }
      at += length
    } else if (code === 39) style = { ...style, text: '' }
    else if (code === 49) style = { ...style, background: '' }
    else if (isBasic(code, 30)) style = { ...style, text: basicColor(code - 30) }
    else if (isBasic(code, 40)) style = { ...style, background: basicColor(code - 40) }
  }
  return style
}

/** 30–37 and 90–97 are text colors, 40–47 and 100–107 background colors. */
const isBasic = (code: number, base: number) =>
  (code >= base && code <= base + 7) || (code >= base + 60 && code <= base + 67)

const basicColor = (number: number) => String(number < 8 ? number : number - 52)

/** `5;N` is one of 256 colors, `2;R;G;B` any. */
function extendedColor(codes: readonly number[], at: number): { color: string; length: number } {
  if (codes[at] === 5) return { color: indexedColor(codes[at + 1] ?? 0), length: 2 }
  if (codes[at] === 2) return { color: hex(codes.slice(at + 1, at + 4)), length: 4 }
  return { color: '', length: 1 }
}

function indexedColor(index: number): string {
  if (index < 16) return String(index)
  if (index > 255) return ''
  if (index > 231) return hex(Array.from({ length: 3 }, () => (index - 232) * 10 + 8))
  const levels = [0, 95, 135, 175, 215, 255]
  const cube = index - 16
  return hex([cube / 36, (cube / 6) % 6, cube % 6].map((level) => levels[Math.floor(level)] ?? 0))
}

const hex = (parts: readonly number[]) => `#${[0, 1, 2].map((at) => hexByte(parts[at] ?? 0)).join('')}`

const hexByte = (number: number) => Math.min(number, 255).toString(16).padStart(2, '0')
