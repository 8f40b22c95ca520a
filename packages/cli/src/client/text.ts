// Text of the server on its way to a terminal. A terminal acts on control characters, so none of the server's may reach it.
import { showLabel } from '@millrace/engine/labels/show.ts'
import { eastAsianWidth } from 'get-east-asian-width'

/** C0 (but tab and line feed), DEL, C1, and the characters that change the direction of text. */
const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Shows control characters as symbols, such as ␛ for escape. Lines and tabs stay. */
export function printable(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(HARMFUL, symbolOf)
}

/** For a table cell or the inside of a sentence, which show what people typed: `:tada:` is 🎉. */
export function oneLine(text: string): string {
  return readable(text.trim().replaceAll(/\s+/g, ' '))
}

/** The same for a text of several lines, unless a program printed it. */
export const readable = (text: string): string => printable(showLabel(text))

function symbolOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  return code === 0x7f ? '␡' : `\\u{${code.toString(16)}}`
}

const graphemes = new Intl.Segmenter()

/** The columns that a terminal needs for a text without control characters and colors. */
export function widthOf(text: string): number {
  if (/^[\u0020-\u007e]*$/.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment)
  return width
}

function graphemeWidth(segment: string): number {
  if (/^[\p{Mn}\p{Me}\p{Cf}]+$/u.test(segment)) return 0
  return segment.includes('\ufe0f') ? 2 : eastAsianWidth(segment.codePointAt(0) ?? 0)
}

/** Shortens to a width, with … as the last character. */
export function shortened(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let kept = ''
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    const next = graphemeWidth(segment)
    if (used + next > width - 1) break
    kept += segment
    used += next
  }
  return width < 1 ? '' : `${kept}…`
}
