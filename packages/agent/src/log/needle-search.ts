// Finds many byte strings in one pass over a stream (Aho and Corasick). Each byte costs the same, however many needles
// there are, however long they are and however the stream is cut.
//
// A state stands for the longest ending of what was read that is the beginning of a needle. State 0: there is none.

export interface NeedleSearch {
  next(state: number, byte: number): number
  /** How many of the last bytes could still become a needle. */
  openBytes(state: number): number
  /** The length of the longest needle that ends here; 0 when none does. */
  foundBytes(state: number): number
}

export function createNeedleSearch(needles: readonly Buffer[]): NeedleSearch {
  const size = 1 + needles.reduce((sum, { length }) => sum + length, 0)
  // The children of a state are a list: nearly all states have only one.
  const firstChild = new Int32Array(size)
  const nextSibling = new Int32Array(size)
  const byteOf = new Uint8Array(size)
  const depth = new Int32Array(size)
  const found = new Int32Array(size)
  const fallback = new Int32Array(size)
  const fromStart = new Int32Array(256)
  let count = 1

  function findChild(state: number, byte: number): number {
    if (state === 0) return fromStart[byte] ?? 0
    let child = firstChild[state] ?? 0
    while (child !== 0 && byteOf[child] !== byte) child = nextSibling[child] ?? 0
    return child
  }

  function addChild(state: number, byte: number): number {
    const child = count
    count += 1
    byteOf[child] = byte
    depth[child] = (depth[state] ?? 0) + 1
    if (state === 0) fromStart[byte] = child
    nextSibling[child] = firstChild[state] ?? 0
    firstChild[state] = child
    return child
  }

  function next(state: number, byte: number): number {
    let from = state
    for (;;) {
      const child = findChild(from, byte)
      if (child !== 0 || from === 0) return child
      from = fallback[from] ?? 0
    }
  }

  for (const needle of needles) {
    let state = 0
    for (const byte of needle) state = findChild(state, byte) || addChild(state, byte)
    found[state] = depth[state] ?? 0
  }

  // By depth, so that the fallback of a state, which is always shorter, is known before it is needed.
  const queue = new Int32Array(count)
  let queued = 1
  for (let at = 0; at < queued; at += 1) {
    const state = queue[at] ?? 0
    for (let child = firstChild[state] ?? 0; child !== 0; child = nextSibling[child] ?? 0) {
      const shorter = state === 0 ? 0 : next(fallback[state] ?? 0, byteOf[child] ?? 0)
      fallback[child] = shorter
      if (found[child] === 0) found[child] = found[shorter] ?? 0
      queue[queued] = child
      queued += 1
    }
  }

  return {
    next,
    openBytes: (state) => depth[state] ?? 0,
    foundBytes: (state) => found[state] ?? 0,
  }
}

/** A quick look for places where a needle may begin. It is exact about where none does. */
export interface StartSearch {
  /**
   * The first place at or after `from` where a needle may begin, also one that the end of the text cuts off. The length
   * of the text if there is none.
   */
  nextStart(text: Buffer, from: number): number
}

/**
 * Compares pairs of bytes at the end of a window as long as the shortest needle, and skips over the window if the pair is
 * in no needle's beginning (Wu and Manber). So it reads only a part of a text without needles.
 */
export function createStartSearch(needles: readonly Buffer[]): StartSearch {
  const width = needles.reduce((least, { length }) => Math.min(least, length), LONGEST_WINDOW)
  if (width < 2) return { nextStart: (_text, from) => from }
  const skips = new Uint8Array(65_536).fill(width - 1)
  const firstBytes = new Set<number>()
  const firstPairs = new Set<number>()
  for (const needle of needles) {
    firstBytes.add(needle[0] ?? 0)
    firstPairs.add(needle.readUInt16BE(0))
    for (let at = 0; at < width - 1; at += 1) {
      const pair = needle.readUInt16BE(at)
      skips[pair] = Math.min(skips[pair] ?? 0, width - 2 - at)
    }
  }
  return {
    nextStart(text, from) {
      let end = from + width - 1
      while (end < text.length) {
        const skip = skips[((text[end - 1] ?? 0) << 8) | (text[end] ?? 0)] ?? 0
        if (skip === 0) return end - width + 1
        end += skip
      }
      // The rest is shorter than a needle.
      let start = end - width + 1
      while (start < text.length) {
        const isLast = start === text.length - 1
        if (isLast ? firstBytes.has(text[start] ?? 0) : firstPairs.has(text.readUInt16BE(start))) break
        start += 1
      }
      return Math.min(start, text.length)
    },
  }
}

const LONGEST_WINDOW = 255
