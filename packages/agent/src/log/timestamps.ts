// Marks when each line was written, in a code that terminals ignore: `ESC _ bk;t=<milliseconds> BEL`.

interface Stamper {
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
      const stamp = `\x1b_bk;t=${time}\x07`
      const isSlow = !isLineStart && time - stampedAt > SLOW_MS && isBetweenCharacters(ending, bytes)
      const begins = isLineStart || isSlow ? stamp : ''
      isLineStart = bytes.at(-1) === NEWLINE
      if (begins !== '' || bytes.includes(NEWLINE)) stampedAt = time
      ending =
        bytes.length < LONGEST_CODE
          ? Buffer.concat([ending, bytes]).subarray(-LONGEST_CODE)
          : bytes.subarray(-LONGEST_CODE)
      // As a text of one byte a character, which V8 searches and joins faster than copies of every line.
      const text = bytes.toString('latin1', 0, isLineStart ? bytes.length - 1 : bytes.length)
      const stamped = text.replaceAll('\n', `\n${stamp}`)
      return Buffer.from(`${begins}${stamped}${isLineStart ? '\n' : ''}`, 'latin1')
    },
  }
}

function isBetweenCharacters(ending: Buffer, bytes: Buffer): boolean {
  const first = bytes[0] ?? 0
  if ((first & 0xc0) === 0x80) return false
  const escape = ending.lastIndexOf(ESCAPE)
  return escape < 0 || !OPEN_CODE.test(ending.subarray(escape).toString('latin1'))
}
