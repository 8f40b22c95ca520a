// How many cells of the character grid a text takes. Heights of wrapped rows are computed from it, never measured.
import { eastAsianWidth } from 'get-east-asian-width'

/** Cells of the chip that stands for a character that would reorder the text around it. */
const chipCells = 8

/** U+061C, U+200E, U+200F, U+202A–U+202E and U+2066–U+2069 change the order in which text is shown. */
export const bidiControl = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

const onlyAscii = /^[\x20-\x7e]*$/

/** Accents, joiners and other marks that take no room. */
const zeroWidth = /^[\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}]$/u

export function cellsOf(text: string): number {
  if (onlyAscii.test(text)) return text.length
  let cells = 0
  for (const character of text) cells += cellsOfCharacter(character)
  return cells
}

/** Lines of the grid that the text takes. A character that does not fit into the rest of a line begins the next. */
export function linesOf(text: string, columns: number): number {
  if (onlyAscii.test(text)) return Math.max(1, Math.ceil(text.length / columns))
  let lines = 1
  let column = 0
  for (const character of text) {
    const cells = cellsOfCharacter(character)
    if (column + cells > columns) {
      lines++
      column = 0
    }
    column += cells
  }
  return lines
}

function cellsOfCharacter(character: string): number {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x300) return 1
  if (bidiControl.test(character)) return chipCells
  return zeroWidth.test(character) ? 0 : eastAsianWidth(code)
}
