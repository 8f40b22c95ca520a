// Orders the chunks of a log, which may arrive in any order, repeatedly or overlapping, so that every byte appears once. While
// the job runs, the log ends at the first gap, so that the part already read never changes. After the job has ended, a note
// replaces each gap.

export interface StoredChunk {
  sequence: number
  byte_offset: number
  size: number
}

/** Bytes `from` to `to` of a chunk, or a note of our own. */
export type Piece =
  | { kind: 'chunk'; sequence: number; from: number; to: number }
  | { kind: 'note'; bytes: Buffer }

interface Plan {
  pieces: Piece[]
  size: number
}

interface Circumstances {
  /** There is no gap before this offset. */
  from: number
  isFinal: boolean
  isTruncated: boolean
  isAgentLost: boolean
  limitBytes: number
}

export function planLog(chunks: readonly StoredChunk[], circumstances: Circumstances): Plan {
  const { from, isFinal, isTruncated, isAgentLost, limitBytes } = circumstances
  const pieces: Piece[] = []
  let position = from
  for (const { sequence, byte_offset, size } of inOrder(chunks)) {
    const end = byte_offset + size
    if (end <= position) continue
    if (byte_offset > position) {
      if (!isFinal) break
      pieces.push(note(`[${byte_offset - position} bytes of this log were lost on their way here]`))
      position = byte_offset
    }
    pieces.push({ kind: 'chunk', sequence, from: position - byte_offset, to: size })
    position = end
  }
  if (isTruncated && (isFinal || position >= limitBytes)) {
    pieces.push(note(`[This log is longer than ${limitBytes} bytes: the rest was not kept]`))
  }
  if (isFinal && isAgentLost) {
    pieces.push(note('[The agent was lost while it ran this job: its process, container or machine is gone]'))
  }
  return { pieces, size: pieces.reduce((sum, piece) => sum + sizeOf(piece), 0) }
}

export const sizeOf = (piece: Piece): number =>
  piece.kind === 'chunk' ? piece.to - piece.from : piece.bytes.length

/** Late chunks may replace notes, but never what comes before the first one. */
export function sizeBeforeNotes(pieces: readonly Piece[]): number {
  const first = pieces.findIndex(({ kind }) => kind === 'note')
  const before = first === -1 ? pieces : pieces.slice(0, first)
  return before.reduce((sum, piece) => sum + sizeOf(piece), 0)
}

/** The pieces that bytes `start` to `end` of the plan consist of. */
export function cut(pieces: readonly Piece[], start: number, end: number): Piece[] {
  const wanted: Piece[] = []
  let position = 0
  for (const piece of pieces) {
    const [first, last] = [Math.max(start - position, 0), Math.min(end - position, sizeOf(piece))]
    if (first < last) wanted.push(part(piece, first, last))
    position += sizeOf(piece)
  }
  return wanted
}

const part = (piece: Piece, first: number, last: number): Piece =>
  piece.kind === 'chunk'
    ? { ...piece, from: piece.from + first, to: piece.from + last }
    : { ...piece, bytes: piece.bytes.subarray(first, last) }

const inOrder = (chunks: readonly StoredChunk[]) =>
  [...chunks].sort((a, b) => a.byte_offset - b.byte_offset || a.sequence - b.sequence)

const note = (text: string): Piece => ({ kind: 'note', bytes: Buffer.from(`\r\n${text}\r\n`) })
