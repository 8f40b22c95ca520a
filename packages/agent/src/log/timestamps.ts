// Marks when each line was written, in a code that terminals ignore: `ESC _ bk;t=<milliseconds> BEL`.

export interface Stamper {
  push(bytes: Buffer): Buffer
}

const NEWLINE = 0x0a
const ESCAPE = 0x1b
/** A line that is written slowly is marked again. */
const SLOW_MS = 1000
/** An escape code that has not ended yet: a string up to BEL or ESC \, or parameters up to a letter. */
const OPEN_CODE = /^\x1b(?:[_\]P^X][^\x07\x1b]*|\[[0-?]*[ -/]*)?$/
const LONGEST_CODE = 256

export function createStamper(now: () => number): Stamper {
  let isLineStart = true
  let stampedAt = 0
  let ending: Buffer = Buffer.alloc(0)

  return {
    push(bytes) {
      if (bytes.length === 0) return bytes
      const time = now()
      const stamp = Buffer.from(`\x1b_bk;t=${time}\x07`)
      const parts: Buffer[] = []
      const isSlow = !isLineStart && time - stampedAt > SLOW_MS && isBetweenCharacters(ending, bytes)
      if (isLineStart || isSlow) parts.push(stamp)
      let from = 0
      for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
        parts.push(bytes.subarray(from, at + 1))
        from = at + 1
        if (from < bytes.length) parts.push(stamp)
      }
      if (from < bytes.length) parts.push(bytes.subarray(from))
      if (parts[0] === stamp || from > 0) stampedAt = time
      isLineStart = from === bytes.length
      ending = Buffer.concat([ending, bytes]).subarray(-LONGEST_CODE)
      return Buffer.concat(parts)
    },
  }
}

function isBetweenCharacters(ending: Buffer, bytes: Buffer): boolean {
  const first = bytes[0] ?? 0
  if ((first & 0xc0) === 0x80) return false
  const escape = ending.lastIndexOf(ESCAPE)
  return escape < 0 || !OPEN_CODE.test(ending.subarray(escape).toString('latin1'))
}
