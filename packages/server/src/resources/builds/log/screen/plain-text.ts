// Text of programs, without what would act on whoever shows it.
import { stripVTControlCharacters } from 'node:util'

/** Control characters outside of sequences, halves of characters, and what changes the direction of text or is invisible. */
const hidden =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}\p{Cs}]/gu

/** Text of programs, as it may be shown anywhere: in a terminal, in a page, to a language model. */
export const plainText = (text: string): string => stripVTControlCharacters(text).replace(hidden, '')

/** At most `most` characters; a cut text ends with an ellipsis. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text
  const end = most - 1
  const last = text.charCodeAt(end - 1)
  return `${text.slice(0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end)}…`
}
