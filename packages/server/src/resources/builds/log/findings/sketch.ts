// A Bloom filter of the trigrams of a log's rows: it says what the log does not contain. Only trigrams of ASCII count, in lower
// case. Half of the bits are set at most, so a word of ten letters rules out all but one of 256 logs without it.

/** The largest sketch has 64 KiB. */
const mostBits = 2 ** 19
const mostFill = 0.5

export class Sketch {
  readonly bits: Uint8Array

  constructor(bits: Uint8Array = new Uint8Array(mostBits / 8)) {
    this.bits = bits
  }

  add(text: string): void {
    const { bits } = this
    let [before, last] = [-1, -1]
    for (let at = 0; at < text.length; at++) {
      const code = folded(text.charCodeAt(at))
      if (before >= 0 && last >= 0 && code >= 0) {
        const bit = hash(before, last, code)
        bits[bit >> 3] = (bits[bit >> 3] ?? 0) | (1 << (bit & 7))
      }
      before = last
      last = code
    }
  }

  /** What another one of the largest size contains. */
  merge(other: Uint8Array): void {
    for (const [index, byte] of other.entries())
      if (byte !== 0) this.bits[index] = (this.bits[index] ?? 0) | byte
  }

  /** Folded in half as long as at most half of its bits are set then. */
  get smallest(): Uint8Array {
    let { bits } = this
    while (bits.length > 1) {
      const half = bits.length / 2
      const next = bits.slice(0, half)
      for (let index = 0; index < half; index++) next[index] = (next[index] ?? 0) | (bits[half + index] ?? 0)
      if (fill(next) > mostFill) return bits
      bits = next
    }
    return bits
  }
}

/** The bits, in a sketch of the largest size, of which a log that contains all the texts has every one; some of them. */
export function bitsOf(texts: readonly string[], most: number): number[] {
  const found = new Set<number>()
  for (const text of texts) {
    const codes = Array.from({ length: text.length }, (_, at) => folded(text.charCodeAt(at)))
    for (const [at, last] of codes.entries()) {
      const [first, second] = [codes[at - 2] ?? -1, codes[at - 1] ?? -1]
      if (first >= 0 && second >= 0 && last >= 0) found.add(hash(first, second, last))
    }
  }
  const all = [...found]
  const step = Math.max(1, all.length / most)
  return Array.from({ length: Math.min(most, all.length) }, (_, index) => all[Math.floor(index * step)] ?? 0)
}

/** -1: not of ASCII. The long s and the Kelvin sign equal letters of ASCII where case is ignored. */
function folded(code: number): number {
  if (code >= 0x41 && code <= 0x5a) return code + 0x20
  if (code < 0x80) return code
  return code === 0x17f ? 0x73 : code === 0x212a ? 0x6b : -1
}

const hash = (first: number, second: number, third: number): number =>
  Math.imul((first << 14) | (second << 7) | third, 0x9e3779b1) >>> (32 - 19)

function fill(bits: Uint8Array): number {
  let set = 0
  for (let byte of bits) for (; byte !== 0; byte &= byte - 1) set++
  return set / (bits.length * 8)
}
