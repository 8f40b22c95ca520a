// Style tokens of a run as class names and, for colours outside the palette, as colours for both themes.
import { contrast, formatColor, legible, readHex, type Color } from './colors.ts'

interface Look {
  /** Names of `Row.module.css`. */
  classes: readonly string[]
  color?: string
  background?: string
}

/** `--log` of tokens.css, for the computed contrast. */
const grounds = { light: { l: 0.99, c: 0.002, h: 255 }, dark: { l: 0.145, c: 0.008, h: 255 } }
const texts = { light: { l: 0.25, c: 0.015, h: 255 }, dark: { l: 0.93, c: 0.005, h: 255 } }

const flags = new Set(['bold', 'dim', 'italic', 'underline', 'strike'])
const known = new Map<string, Look>()
const mostKnown = 2000

export function lookOf(tokens: string): Look {
  const look = known.get(tokens)
  if (look !== undefined) return look
  if (known.size >= mostKnown) known.clear()
  const fresh = readTokens(tokens)
  known.set(tokens, fresh)
  return fresh
}

function readTokens(text: string): Look {
  const tokens = text.split(' ').filter((token) => token !== '')
  const isInverse = tokens.includes('inverse')
  const front = lastColor(tokens, 'fg')
  const back = lastColor(tokens, 'bg')
  const classes = tokens.filter((token) => flags.has(token))
  const [text1, ground] = isInverse ? [back ?? 'ground', front ?? 'text'] : [front, back]
  return { ...colorsOf(text1, ground, classes), classes }
}

/** The value of the last token of this kind: `3` or `#rrggbb`. */
function lastColor(tokens: readonly string[], kind: 'fg' | 'bg'): string | null {
  const token = tokens.findLast((token) => token.startsWith(kind))
  return token === undefined ? null : token.slice(2)
}

function colorsOf(front: string | null, back: string | null, classes: string[]): Omit<Look, 'classes'> {
  const paint = back === null ? null : readHex(back)
  const ink = front === null ? null : readHex(front)
  if (paint !== null) {
    return { background: formatColor(paint), color: formatColor(legible(ink ?? textOn(paint), paint)) }
  }
  if (back !== null) {
    // Palette colours contrast with the ground of the log, so that is the colour of text on them.
    classes.push(back === 'text' ? 'bgText' : `bg${paletteIndex(back)}`)
    return {}
  }
  if (ink !== null) return { color: forThemes(ink) }
  if (front !== null) classes.push(`fg${paletteIndex(front)}`)
  return {}
}

const textOn = (paint: Color) =>
  contrast(texts.light, paint) > contrast(texts.dark, paint) ? texts.light : texts.dark

const paletteIndex = (text: string) => (/^(1[0-5]|\d)$/.test(text) ? text : '7')

const forThemes = (color: Color) =>
  `light-dark(${formatColor(legible(color, grounds.light))}, ${formatColor(legible(color, grounds.dark))})`
