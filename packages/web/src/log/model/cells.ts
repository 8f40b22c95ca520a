// How many cells of the character grid a text takes. Heights of wrapped rows are computed from it, never measured.

/** Cells of the chip that stands for a character that would reorder the text around it. */
const chipCells = 8

/** U+061C, U+200E, U+200F, U+202A–U+202E and U+2066–U+2069 change the order in which text is shown. */
export const bidiControl = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

const onlyAscii = /^[\x20-\x7e]*$/

/** Pairs of first and last code point. */
const zero = [0x300, 0x36f, 0x483, 0x489, 0x591, 0x5bd, 0x610, 0x61a, 0x64b, 0x65f, 0x200b, 0x200d, 0x20d0]
zero.push(0x20ff, 0xfe00, 0xfe0f, 0xfe20, 0xfe2f, 0xfeff, 0xfeff, 0xe0100, 0xe01ef)

const wide = [0x1100, 0x115f, 0x231a, 0x231b, 0x23e9, 0x23ec, 0x25fd, 0x25fe, 0x2614, 0x2615, 0x2648, 0x2653]
wide.push(0x267f, 0x267f, 0x2693, 0x2693, 0x26a1, 0x26a1, 0x26aa, 0x26ab, 0x26bd, 0x26be, 0x26c4, 0x26c5)
wide.push(0x26d4, 0x26d4, 0x26ea, 0x26ea, 0x26f2, 0x26f3, 0x26f5, 0x26f5, 0x26fa, 0x26fa, 0x26fd, 0x26fd)
wide.push(0x2705, 0x2705, 0x270a, 0x270b, 0x2728, 0x2728, 0x274c, 0x274c, 0x274e, 0x274e, 0x2753, 0x2755)
wide.push(0x2757, 0x2757, 0x2795, 0x2797, 0x27b0, 0x27b0, 0x2b1b, 0x2b1c, 0x2b50, 0x2b50, 0x2b55, 0x2b55)
wide.push(0x2e80, 0x303e, 0x3041, 0x33ff, 0x3400, 0x4dbf, 0x4e00, 0x9fff, 0xa000, 0xa4cf, 0xa960, 0xa97f)
wide.push(0xac00, 0xd7a3, 0xf900, 0xfaff, 0xfe30, 0xfe6f, 0xff01, 0xff60, 0xffe0, 0xffe6, 0x1f300, 0x1f64f)
wide.push(0x1f680, 0x1f6ff, 0x1f7e0, 0x1f7eb, 0x1f900, 0x1f9ff, 0x1fa70, 0x1faff, 0x20000, 0x3fffd)

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
  if (isIn(zero, code)) return 0
  return isIn(wide, code) ? 2 : 1
}

function isIn(ranges: readonly number[], code: number): boolean {
  let low = 0
  let high = ranges.length / 2
  while (low < high) {
    const middle = (low + high) >> 1
    if (code > (ranges[middle * 2 + 1] ?? 0)) low = middle + 1
    else high = middle
  }
  return low * 2 < ranges.length && code >= (ranges[low * 2] ?? 0)
}
