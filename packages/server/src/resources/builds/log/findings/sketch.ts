// A Bloom filter of the trigrams of a log's rows: it says what the log does not contain. Only trigrams of ASCII count, in lower
// case. Half of the bits are set at most, so a word of ten letters rules out all but one of 256 logs without it.

/** The largest sketch has 64 KiB. */
const mostBits = 2 ** 19
const leastBytes = 8
const mostFill = 0.5

export class Sketch {
  readonly bits = new Uint8Array(mostBits / 8)

  add(text: string): void {
    const { bits } = this
    let [key, known] = [0, 0]
    for (let at = 0; at < text.length; at++) {
      const code = folds[text.charCodeAt(at)] ?? -1
      known = code < 0 ? 0 : known + 1
      key = ((key << 7) | code) & 0x1fffff
      if (known < 3) continue
      const bit = hash(key)
      bits[bit >> 3] = (bits[bit >> 3] ?? 0) | (1 << (bit & 7))
    }
  }

  /** What another one of the largest size contains. */
  merge(other: Uint8Array): void {
    or(wordsOf(this.bits), wordsOf(other.slice()))
  }

  /** Folded in half as long as at most half of its bits are set then. */
  get smallest(): Uint8Array {
    let { bits } = this
    while (bits.length > leastBytes) {
      const half = bits.length / 2
      const next = bits.slice(0, half)
      or(wordsOf(next), wordsOf(bits.slice(half)))
      if (countBits(wordsOf(next)) > half * 8 * mostFill) return bits
      bits = next
    }
    return bits
  }
}

const wordsOf = ({ buffer, length }: Uint8Array) => new Uint32Array(buffer, 0, length / 4)

function or(words: Uint32Array, others: Uint32Array): void {
  for (let index = 0; index < words.length; index++) words[index] = (words[index] ?? 0) | (others[index] ?? 0)
}

function countBits(words: Uint32Array): number {
  let count = 0
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? 0
    const pairs = word - ((word >>> 1) & 0x55555555)
    const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
    count += Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
  }
  return count
}

/** The bits, in a sketch of the largest size, of which a log that contains all the texts has every one; some of them. */
export function bitsOf(texts: readonly string[], most: number): number[] {
  const found = new Set<number>()
  for (const text of texts) {
    const codes = Array.from({ length: text.length }, (_, at) => folds[text.charCodeAt(at)] ?? -1)
    for (let at = 2; at < codes.length; at++) {
      const [first = -1, second = -1, third = -1] = codes.slice(at - 2, at + 1)
      if (Math.min(first, second, third) >= 0) found.add(hash((first << 14) | (second << 7) | third))
    }
  }
  const all = [...found]
  const step = Math.max(1, all.length / most)
  return Array.from({ length: Math.min(most, all.length) }, (_, index) => all[Math.floor(index * step)] ?? 0)
}

/**
 * By the code of a character. Negative: not of ASCII. The long s and the Kelvin sign equal letters of ASCII where case is ignored. A
 * table takes two thirds of the time of comparisons.
 */
const folds = new Int8Array(0x10000).fill(-1)
for (let code = 0; code < 0x80; code++) folds[code] = code >= 0x41 && code <= 0x5a ? code + 0x20 : code
folds[0x17f] = 0x73
folds[0x212a] = 0x6b

const hash = (key: number): number => Math.imul(key, 0x9e3779b1) >>> (32 - 19)
