// Selected rows and their address: `#{job}/L5` and `#{job}/L5-L9`.

export interface Lines {
  from: number
  to: number
}

interface JobFragment {
  job: string
  lines: Lines | null
}

export function readFragment(fragment: string): JobFragment | null {
  const match = /^#?([0-9a-f-]{36})(?:\/(.*))?$/i.exec(fragment)
  if (match?.[1] === undefined) return null
  return { job: match[1].toLowerCase(), lines: readLines(match[2] ?? '') }
}

/** `L5` or `L5-L9`; also `L9-L5`, as somebody may have typed it. */
export function readLines(text: string): Lines | null {
  const match = /^L(\d{1,10})(?:-L?(\d{1,10}))?$/i.exec(text)
  if (match === null) return null
  const first = Number(match[1])
  const last = match[2] === undefined ? first : Number(match[2])
  if (first < 1 || last < 1) return null
  return { from: Math.min(first, last), to: Math.max(first, last) }
}

export const formatLines = ({ from, to }: Lines): string => (from === to ? `L${from}` : `L${from}-L${to}`)

export const formatFragment = (job: string, lines: Lines | null): string =>
  lines === null ? `#${job}` : `#${job}/${formatLines(lines)}`

/** A click selects a row, or clears the selection when it is the only selected one. With shift it extends the selection. */
export function selectRow(before: Lines | null, row: number, isExtending: boolean): Lines | null {
  if (isExtending && before !== null) {
    return row < before.from ? { from: row, to: before.to } : { from: before.from, to: row }
  }
  return before?.from === row && before.to === row ? null : { from: row, to: row }
}

export const isSelected = (lines: Lines | null, row: number): boolean =>
  lines !== null && row >= lines.from && row <= lines.to
