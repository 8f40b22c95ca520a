// Divides tests among parallel jobs so that all of them end at about the same time.

export interface TimedTest {
  /** Of tests that take equally long, the order of the names decides, so that the same tests are always divided alike. */
  name: string
  /** Expected, in any unit; not negative. */
  duration: number
}

/**
 * For each part the positions of its tests, in their given order. The longest test comes first, each goes to the part that has
 * the least to do so far. So no two parts differ by more than the longest test, and tests of equal length are divided by number.
 */
export function splitByTime(tests: readonly TimedTest[], parts: number): number[][] {
  const longestFirst = tests
    .map((test, position) => ({ test, position }))
    .sort((a, b) => b.test.duration - a.test.duration || compare(a.test.name, b.test.name))
  const heap: Part[] = Array.from({ length: parts }, (_, index) => ({ index, duration: 0, positions: [] }))
  for (const { test, position } of longestFirst) {
    const [emptiest] = heap
    if (emptiest === undefined) throw new Error('Tests cannot be divided among no parts.')
    emptiest.duration += test.duration
    emptiest.positions.push(position)
    sink(heap)
  }
  return heap.toSorted((a, b) => a.index - b.index).map(({ positions }) => positions.sort((a, b) => a - b))
}

/** The smallest number of parts, but at most `most`, with which none is expected to take longer than `target`. */
export function partsWithin(tests: readonly TimedTest[], target: number, most: number): number {
  const total = tests.reduce((sum, { duration }) => sum + duration, 0)
  const useful = Math.max(1, Math.min(most, tests.length))
  let fewest = Math.max(1, Math.min(useful, Math.ceil(total / target)))
  let enough = useful
  while (fewest < enough) {
    const middle = Math.floor((fewest + enough) / 2)
    if (longestPart(tests, middle) <= target) enough = middle
    else fewest = middle + 1
  }
  return enough
}

/** Null without values. */
export function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)]
  const lower = sorted[Math.floor((sorted.length - 1) / 2)]
  return upper === undefined || lower === undefined ? null : (lower + upper) / 2
}

interface Part {
  index: number
  duration: number
  positions: number[]
}

function longestPart(tests: readonly TimedTest[], parts: number): number {
  let longest = 0
  for (const positions of splitByTime(tests, parts)) {
    longest = Math.max(
      longest,
      positions.reduce((sum, position) => sum + (tests[position]?.duration ?? 0), 0),
    )
  }
  return longest
}

/** The first part of the heap has got a test: puts it where it belongs, so that the emptiest is first again. */
function sink(heap: Part[]): void {
  let at = 0
  for (;;) {
    const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]]
    const here = heap[at]
    if (here === undefined || left === undefined) return
    const [child, childAt] =
      right !== undefined && isEmptier(right, left) ? [right, 2 * at + 2] : [left, 2 * at + 1]
    if (!isEmptier(child, here)) return
    heap[at] = child
    heap[childAt] = here
    at = childAt
  }
}

/** Tests that take no time are divided by number too. */
const isEmptier = (a: Part, b: Part): boolean =>
  (a.duration - b.duration || a.positions.length - b.positions.length || a.index - b.index) < 0

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
