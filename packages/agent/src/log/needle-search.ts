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
