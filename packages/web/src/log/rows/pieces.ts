// A row cut into the pieces that are shown: at changes of style, at links, at search hits, and at characters that would
// reorder the text.
import { bidiControl } from '../model/cells.ts'
import type { Hit } from '../search/hits.ts'
import { isWebLink, type Row, type Run } from '../model/rows.ts'

export interface Piece {
  text: string
  style: string
  link: string | null
  hit: 'no' | 'yes' | 'current'
  /** A chip stands for a character that would reorder the text; a host is where a link leads. Neither is copied. */
  kind: 'text' | 'chip' | 'host'
}

const address = /\bhttps?:\/\/[^\s<>"'`{}|\\^]+/gi

export function piecesOf(row: Pick<Row, 'runs'>, hits: readonly Hit[]): Piece[] {
  const pieces: Piece[] = []
  let start = 0
  for (const run of row.runs) {
    for (const part of linksOf(run)) {
      addPieces(pieces, part, start, hits)
      start += part.text.length
    }
    if (run.host !== '') {
      pieces.push({ text: run.host, style: run.style, link: null, hit: 'no', kind: 'host' })
    }
  }
  return pieces
}

/** Addresses in the text become links; a run that is one already stays whole. */
function linksOf(run: Run): Run[] {
  if (run.link !== null || !run.text.includes('://')) return [run]
  const parts: Run[] = []
  let from = 0
  for (const match of run.text.matchAll(address)) {
    const link = withoutEnd(match[0])
    if (!isWebLink(link)) continue
    if (match.index > from) parts.push({ ...run, text: run.text.slice(from, match.index) })
    parts.push({ ...run, text: link, link })
    from = match.index + link.length
  }
  if (from < run.text.length) parts.push({ ...run, text: run.text.slice(from) })
  return parts
}

/** Punctuation behind an address belongs to the sentence; a bracket that was opened within it does not. */
function withoutEnd(text: string): string {
  let link = text.replace(/[.,;:!?*]+$/, '')
  for (const [open, close] of [
    ['(', ')'],
    ['[', ']'],
  ] as const) {
    while (link.endsWith(close) && link.split(close).length > link.split(open).length)
      link = link.slice(0, -1)
  }
  return link
}

function addPieces(pieces: Piece[], part: Run, start: number, hits: readonly Hit[]): void {
  const end = start + part.text.length
  let at = start
  for (const hit of hits) {
    if (hit.end <= at || hit.start >= end) continue
    if (hit.start > at) addText(pieces, part, part.text.slice(at - start, hit.start - start), 'no')
    const from = Math.max(at, hit.start)
    const to = Math.min(end, hit.end)
    addText(pieces, part, part.text.slice(from - start, to - start), hit.isCurrent ? 'current' : 'yes')
    at = to
  }
  if (at < end) addText(pieces, part, part.text.slice(at - start), 'no')
}

function addText(pieces: Piece[], { style, link }: Run, text: string, hit: Piece['hit']): void {
  if (!bidiControl.test(text)) {
    pieces.push({ text, style, link, hit, kind: 'text' })
    return
  }
  for (const one of text.split(new RegExp(`(${bidiControl.source})`))) {
    if (one === '') continue
    const isControl = one.length === 1 && bidiControl.test(one)
    pieces.push({
      text: isControl ? codeOf(one) : one,
      style,
      link,
      hit,
      kind: isControl ? 'chip' : 'text',
    })
  }
}

const codeOf = (character: string) =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
